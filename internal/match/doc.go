// Package match is the keyword language: it parses expressions, folds entries
// into words, and says whether an expression matches an entry. It is not an
// index over many entries or many expressions, and it reads and writes nothing.
//
// # The language
//
// Words beside each other mean AND. AND, OR and NOT are operators in upper case
// only; NOT binds tightest, and AND binds before OR. A hyphen before a word, a
// phrase or a parenthesis means NOT; within a word it separates, as all
// punctuation does. Parentheses group, quotes make a phrase, whose words must
// stand beside each other in one field. The empty expression matches everything.
//
//	europe energie
//	(gaz OR pétrole) NOT "prix fixe"
//	lemonde.fr climat -"prix fixe" -(sport OR foot)
//
// A word of the expression is found only whole, never as a part of another
// word. All punctuation separates words, so lemonde.fr and l'énergie are
// phrases of two words. A piece without any letter or digit is passed over.
//
// # Words
//
// Expressions and entries are split and folded by one function, Fold, so that
// what a reader types meets what a publisher wrote. See Fold for its rules.
package match
