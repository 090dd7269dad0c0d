//! Parses tokens into expressions. Operators from the lowest precedence to the highest: `;`, `->`, `||`, `&&`,
//! comparisons, `!` and `-`, `::`.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use super::lexer::{Lexer, Token};
use super::number::Number;
use super::{MAX_DEPTH, MAX_PARTS, RestrictionError};
use crate::value::{Value, Width};

/// Comparison of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// An untyped expression with its place in the source.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    pub(super) form: Form,
    pub(super) place: Range<usize>,
}

/// The forms of an expression.
#[derive(Debug, Clone)]
pub(super) enum Form {
    Bool(bool),
    Number(Number<'static>),
    Text(String),
    Name(String),
    Attribute(String),
    Part(Box<Expression>, String),
    Not(Box<Expression>),
    Minus(Box<Expression>),
    All(Vec<Expression>),
    Any(Vec<Expression>),
    Implies(Box<Expression>, Box<Expression>),
    Compare(Comparison, Box<Expression>, Box<Expression>),
}

/// Parses a restriction into its clauses.
pub(super) fn parse(source: &str) -> Result<Vec<Expression>, RestrictionError> {
    let mut lexer = Lexer::new(source);
    let next = lexer.next()?;
    let mut parser = Parser { source, lexer, next, last: 0, depth: 0, parts: 0 };
    let clauses = parser.clauses()?;
    match parser.next.0 {
        Token::End => Ok(clauses),
        _ => Err(parser.unexpected_token("an operator or the end")),
    }
}

struct Parser<'s> {
    source: &'s str,
    lexer: Lexer<'s>,
    next: (Token<'s>, Range<usize>),
    /// The end of the previous token.
    last: usize,
    depth: u32,
    parts: u32,
}

type ParseResult = Result<Expression, RestrictionError>;

impl<'s> Parser<'s> {
    fn take(&mut self) -> Result<Token<'s>, RestrictionError> {
        let next = self.lexer.next()?;
        let (token, place) = std::mem::replace(&mut self.next, next);
        self.last = place.end;
        Ok(token)
    }

    fn accept(&mut self, sign: &str) -> Result<bool, RestrictionError> {
        let found = matches!(self.next.0, Token::Sign(next) if next == sign);
        if found {
            self.take()?;
        }
        Ok(found)
    }

    fn expect(&mut self, sign: &str) -> Result<(), RestrictionError> {
        if self.accept(sign)? { Ok(()) } else { Err(self.unexpected_token(&format!("`{sign}`"))) }
    }

    fn unexpected_token(&self, wanted: &str) -> RestrictionError {
        let found = match &self.next.0 {
            Token::End => "the end".to_owned(),
            _ => format!("`{}`", &self.source[self.next.1.clone()]),
        };
        RestrictionError::at(self.source, self.next.1.start, format!("{found} where {wanted} should be"))
    }

    fn make(&mut self, start: usize, form: Form) -> ParseResult {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            let problem = format!("the expression has more than {MAX_PARTS} parts");
            return Err(RestrictionError::at(self.source, start, problem));
        }
        Ok(Expression { form, place: start..self.last })
    }

    /// Parses one level deeper, up to the limit.
    fn deeper(&mut self, inner: impl FnOnce(&mut Self) -> ParseResult) -> ParseResult {
        if self.depth >= MAX_DEPTH {
            let problem = format!("the expression is nested deeper than {MAX_DEPTH}");
            return Err(RestrictionError::at(self.source, self.next.1.start, problem));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn clauses(&mut self) -> Result<Vec<Expression>, RestrictionError> {
        let mut clauses = vec![self.implication()?];
        while self.accept(";")? {
            if matches!(self.next.0, Token::End) {
                break;
            }
            clauses.push(self.implication()?);
        }
        Ok(clauses)
    }

    /// Within parentheses, `;` has the meaning of `&&`. Only the outermost expression may end with `;`.
    fn clause_list(&mut self) -> ParseResult {
        let start = self.next.1.start;
        let mut clauses = vec![self.implication()?];
        while self.accept(";")? {
            clauses.push(self.implication()?);
        }
        self.join_parts(start, clauses, Form::All)
    }

    fn join_parts(
        &mut self,
        start: usize,
        mut parts: Vec<Expression>,
        form: fn(Vec<Expression>) -> Form,
    ) -> ParseResult {
        match (parts.pop(), parts.is_empty()) {
            (Some(only), true) => Ok(only),
            (last, _) => {
                parts.extend(last);
                self.make(start, form(parts))
            }
        }
    }

    fn implication(&mut self) -> ParseResult {
        let start = self.next.1.start;
        let left = self.disjunction()?;
        if !self.accept("->")? {
            return Ok(left);
        }
        let right = self.disjunction()?;
        if matches!(self.next.0, Token::Sign("->")) {
            return Err(self.unexpected_token("`;` or the end: `->` does not chain, so parentheses"));
        }
        self.make(start, Form::Implies(Box::new(left), Box::new(right)))
    }

    fn disjunction(&mut self) -> ParseResult {
        let start = self.next.1.start;
        let mut parts = vec![self.conjunction()?];
        while self.accept("||")? {
            parts.push(self.conjunction()?);
        }
        self.join_parts(start, parts, Form::Any)
    }

    fn conjunction(&mut self) -> ParseResult {
        let start = self.next.1.start;
        let mut parts = vec![self.comparison()?];
        while self.accept("&&")? {
            parts.push(self.comparison()?);
        }
        self.join_parts(start, parts, Form::All)
    }

    fn comparison(&mut self) -> ParseResult {
        let start = self.next.1.start;
        let left = self.unary()?;
        let Some(how) = self.comparison_sign() else { return Ok(left) };
        self.take()?;
        let right = self.unary()?;
        if self.comparison_sign().is_some() {
            return Err(self.unexpected_token("an operator: comparisons do not chain, so parentheses"));
        }
        self.make(start, Form::Compare(how, Box::new(left), Box::new(right)))
    }

    fn comparison_sign(&self) -> Option<Comparison> {
        let Token::Sign(sign) = self.next.0 else { return None };
        Some(match sign {
            "==" => Comparison::Equal,
            "!=" => Comparison::Unequal,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            _ => return None,
        })
    }

    fn unary(&mut self) -> ParseResult {
        let start = self.next.1.start;
        if self.accept("!")? {
            let inner = self.deeper(Self::unary)?;
            return self.make(start, Form::Not(Box::new(inner)));
        }
        if self.accept("-")? {
            let inner = self.deeper(Self::unary)?;
            return self.make(start, Form::Minus(Box::new(inner)));
        }
        let whole = self.primary()?;
        // A part has no parts, so `::` cannot be chained.
        if !self.accept("::")? {
            return Ok(whole);
        }
        let part = self.name("the name of a part")?.to_owned();
        self.make(start, Form::Part(Box::new(whole), part))
    }

    fn name(&mut self, wanted: &str) -> Result<&'s str, RestrictionError> {
        let Token::Word(word) = self.next.0 else { return Err(self.unexpected_token(wanted)) };
        self.take()?;
        Ok(word)
    }

    fn primary(&mut self) -> ParseResult {
        let start = self.next.1.start;
        if self.accept("(")? {
            let mut inner = self.deeper(Self::clause_list)?;
            self.expect(")")?;
            inner.place = start..self.last;
            return Ok(inner);
        }
        if self.accept("::")? {
            let name = self.name("the name of an attribute")?.to_owned();
            return self.make(start, Form::Attribute(name));
        }
        let form = match self.next.0.clone() {
            Token::Word("true") => Form::Bool(true),
            Token::Word("false") => Form::Bool(false),
            Token::Word(word) => return self.word(start, word),
            Token::Number(number) => Form::Number(number),
            Token::Text(text) => Form::Text(text.to_owned()),
            Token::Sign(_) | Token::End => return Err(self.unexpected_token("a field, a number or `(`")),
        };
        self.take()?;
        self.make(start, form)
    }

    fn word(&mut self, start: usize, word: &str) -> ParseResult {
        self.take()?;
        if matches!(self.next.0, Token::Sign("(")) && ["ipv4", "ipv6", "mac"].contains(&word) {
            return self.address(start, word);
        }
        let mut name = word.to_owned();
        while self.accept(".")? {
            name.push('.');
            name.push_str(self.name("a name")?);
        }
        self.make(start, Form::Name(name))
    }

    fn address(&mut self, start: usize, kind: &str) -> ParseResult {
        self.expect("(")?;
        let place = self.next.1.start;
        let Token::Text(text) = self.next.0 else {
            return Err(self.unexpected_token("an address in single quotes"));
        };
        let number = match kind {
            "ipv4" => text.parse::<Ipv4Addr>().ok().map(|address| u128::from(address.to_bits())),
            "ipv6" => text.parse::<Ipv6Addr>().ok().map(Ipv6Addr::to_bits),
            _ => match Value::parse(text) {
                Value::Number(number) if text.matches(':').count() == 5 => Some(number),
                Value::Number(_) | Value::Bytes(_) | Value::Text(_) => None,
            },
        };
        let wrong = || RestrictionError::at(self.source, place, format!("`{text}` is not a {kind} address"));
        let bytes = Width::Bits(128).encode(&number.ok_or_else(wrong)?.into()).unwrap_or_default();
        self.take()?;
        self.expect(")")?;
        self.make(start, Form::Number(Number::from_bytes(&bytes).into_owned()))
    }
}
