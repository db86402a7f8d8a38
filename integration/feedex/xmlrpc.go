package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
)

// value is what XML-RPC calls one: a number, a string, an array or a struct. A value with
// none of them is the empty string.
type value struct {
	Int    *int     `xml:"int"`
	String *string  `xml:"string"`
	Array  *list    `xml:"array"`
	Struct []member `xml:"struct>member"`
}

type list struct {
	Data struct {
		Values []value `xml:"value"`
	} `xml:"data"`
}

type member struct {
	Name  string `xml:"name"`
	Value value  `xml:"value"`
}

// methodCall and methodResponse are the two documents of XML-RPC.
type methodCall struct {
	XMLName xml.Name `xml:"methodCall"`
	Method  string   `xml:"methodName"`
	Params  []param  `xml:"params>param"`
}

type methodResponse struct {
	XMLName xml.Name `xml:"methodResponse"`
	Params  []param  `xml:"params>param"`
	Fault   *value   `xml:"fault>value"`
}

type param struct {
	Value value `xml:"value"`
}

func number(n int) value { return value{Int: &n} }

func text(s string) value { return value{String: &s} }

func array(values []value) value {
	l := new(list)
	l.Data.Values = values
	return value{Array: l}
}

func structure(members ...member) value { return value{Struct: members} }

func (v value) number() int {
	if v.Int == nil {
		return 0
	}
	return *v.Int
}

func (v value) text() string {
	if v.String == nil {
		return ""
	}
	return *v.String
}

func (v value) values() []value {
	if v.Array == nil {
		return nil
	}
	return v.Array.Data.Values
}

// of is a member of a struct.
func (v value) of(name string) value {
	for _, m := range v.Struct {
		if m.Name == name {
			return m.Value
		}
	}
	return value{}
}

// document writes a call or an answer.
func document(of any) []byte {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0"?>`)
	if err := xml.NewEncoder(&b).Encode(of); err != nil {
		panic(err) // strings and numbers can be written
	}
	return b.Bytes()
}

// most is how long a call and an answer may be.
const most = 8 << 20

// call calls a function at an address, host:port. What it was answered is one value.
func call(ctx context.Context, client *http.Client, at, method string, params ...value) (value, error) {
	r, err := request(ctx, at, method, params...)
	if err != nil {
		return value{}, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return value{}, err
	}
	defer answer.Body.Close()
	var got methodResponse
	switch body, err := io.ReadAll(io.LimitReader(answer.Body, most)); {
	case err != nil:
		return value{}, err
	case answer.StatusCode != http.StatusOK:
		return value{}, fmt.Errorf("%s at %s: %s", method, at, answer.Status)
	default:
		err = xml.Unmarshal(body, &got)
		if err != nil || got.Fault != nil || len(got.Params) != 1 {
			return value{}, fmt.Errorf("%s at %s was not answered: %w", method, at, err)
		}
	}
	return got.Params[0].Value, nil
}

func request(ctx context.Context, at, method string, params ...value) (*http.Request, error) {
	c := methodCall{Method: method}
	for _, v := range params {
		c.Params = append(c.Params, param{v})
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+at+"/RPC2", bytes.NewReader(document(c)))
	if err == nil {
		r.Header.Set("Content-Type", "text/xml")
	}
	return r, err
}

// sizeOf is how many bytes a call is, with its HTTP header.
func sizeOf(at, method string, params ...value) int {
	r, err := request(context.Background(), at, method, params...)
	if err != nil {
		return 0
	}
	all, err := httputil.DumpRequestOut(r, true)
	if err != nil {
		return 0
	}
	return len(all)
}

// function answers calls of one method.
type function func(from string, params []value) (value, error)

// serve answers calls. The host that calls is told to the function.
func serve(functions map[string]function) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
		var asked methodCall
		if err == nil {
			err = xml.Unmarshal(body, &asked)
		}
		do := functions[asked.Method]
		if err == nil && do == nil {
			err = fmt.Errorf("there is no function %q", asked.Method)
		}
		answer := methodResponse{}
		if err == nil {
			var params []value
			for _, p := range asked.Params {
				params = append(params, p.Value)
			}
			var v value
			v, err = do(r.RemoteAddr, params)
			answer.Params = []param{{v}}
		}
		if err != nil {
			fault := structure(member{"faultCode", number(1)}, member{"faultString", text(err.Error())})
			answer = methodResponse{Fault: &fault}
		}
		w.Header().Set("Content-Type", "text/xml")
		_, _ = w.Write(document(answer))
	})
}
