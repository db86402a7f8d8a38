package guess

import (
	"strings"
	"testing"

	"golang.org/x/net/html/charset"
)

// texts are sentences as feeds have them, and the encodings in which they come.
var texts = []struct{ text, encodings string }{
	{"Все люди рождаются свободными и равными в своём достоинстве и правах.", "windows-1251 koi8-r iso-8859-5"},
	{"Усі люди народжуються вільними і рівними у своїй гідності та правах.", "windows-1251"},
	{"Новости дня: ПРЕЗИДЕНТ ПОДПИСАЛ УКАЗ о новых правилах, которые начнут действовать с января.", "windows-1251 koi8-r"},
	{"すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。", "shift_jis euc-jp"},
	{"ニュース：東京で新しいサービスが始まりました。", "shift_jis euc-jp"},
	{"人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。", "gbk"},
	{"人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。", "big5"},
	{"모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.", "euc-kr"},
	{"มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ", "windows-874"},
	{"כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון", "windows-1255"},
}

// others are texts about which nothing is to be guessed: they are read as
// Windows-1252, rightly or not.
var others = []struct{ text, encoding string }{
	{"Où êtes-vous né ? À l’été, près de la forêt, où l’œuvre des élèves a été créée à Noël.", "windows-1252"},
	{"Über Größe und Maß: die schönsten Äpfel wären für Jürgen natürlich süß.", "windows-1252"},
	{"El niño pequeño soñó que mañana comería piñas, ¡qué ilusión! ¿Dónde está?", "windows-1252"},
	{"ÉÈÀÙ ÇÀ ÉTÉ ÔÊÎ ÀÉÈ ÊTRE ÉLÈVE À L’ÉCOLE RÉPUBLICAINE", "windows-1252"},
	{"Kæri Jón, þú átt að fá þetta á morgun, því að ég þarf það ekki. Öll börn eru góð.", "windows-1252"},
	{"Räksmörgås på ön: åtta små älgar åt blåbär på ängen.", "windows-1252"},
	{"Zażółć gęślą jaźń, a potem idź do łóżka i śpij długo.", "windows-1250"},
	{"Příliš žluťoučký kůň úpěl ďábelské ódy, šťastný člověk žije v míru.", "windows-1250"},
	{"Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.", "iso-8859-7"},
	{"Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.", "windows-1254"},
	{"يولد جميع الناس أحرارا متساوين في الكرامة والحقوق", "windows-1256"},
	{"“Quotes” — and dashes – with ‘others’ … here and “there”, “everywhere”…", "windows-1252"},
	{"€ 5 £ 6 ¥ 7 © ® ™ § ¶ • · ° ± × ÷ ¼ ½ ¾", "windows-1252"},
	{"Привет", "windows-1251"}, // too little
	{"", "windows-1252"},
}

func encoded(t *testing.T, name, text string) []byte {
	t.Helper()
	enc, _ := charset.Lookup(name)
	body, err := enc.NewEncoder().String("<rss><title>" + text + "</title></rss>")
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return []byte(body)
}

func TestEncoding(t *testing.T) {
	for _, c := range texts {
		for name := range strings.FieldsSeq(c.encodings) {
			if got := Encoding(encoded(t, name, c.text)); got != name {
				t.Errorf("%s of %s: guessed %q", name, c.text, got)
			}
		}
	}
	for _, c := range others {
		if got := Encoding(encoded(t, c.encoding, c.text)); got != "" {
			t.Errorf("%s of %s: guessed %q", c.encoding, c.text, got)
		}
	}
}

// FuzzEncoding: whatever the bytes are, nothing falls over them, and what is
// named is known.
func FuzzEncoding(f *testing.F) {
	f.Add([]byte("\x82\xc9\x8b\x4c\x8e\x96\x93\x8a\x8d\x65\x82\xaa\x94\xbd\x89\x66"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if name := Encoding(body); name != "" {
			if enc, canonical := charset.Lookup(name); enc == nil || canonical != name {
				t.Errorf("%q is not known", name)
			}
		}
	})
}
