//! Values in brackets or quotes, which may span several lines.

/// Brackets and the quote that are open at the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct State {
    /// Number of open brackets.
    depth: usize,
    /// The open quote.
    quote: Option<char>,
}

impl State {
    /// Returns whether the value continues on the next line.
    pub(super) fn is_open(self) -> bool {
        self.depth > 0 || self.quote.is_some()
    }
}

/// Returns the number of spaces before a comment, which stays in its column if possible.
pub(super) fn gap(width: usize, column: usize) -> usize {
    if column > width { column - width } else { 2 }
}

/// Splits the comment from a line that starts with a value in brackets or quotes.
pub(super) fn split(text: &str) -> (&str, Option<&str>) {
    let mut quote = None;
    let mut before = ' ';
    let mut signs = text.char_indices();
    while let Some((at, sign)) = signs.next() {
        match (sign, quote) {
            ('\\', Some('"')) => {
                signs.next();
            }
            (_, Some(open)) if sign == open => quote = None,
            ('"' | '\'', None) if !before.is_alphanumeric() => quote = Some(sign),
            ('#', None) if before == ' ' => return (&text[..at], Some(&text[at..])),
            _ => {}
        }
        before = sign;
    }
    (text, None)
}

/// Writes a line of a value in brackets or quotes. Returns the brackets and quotes that are open at its end.
pub(super) fn line(text: &str, state: State) -> (String, State) {
    let mut writer = Writer { out: String::new(), state, gap: false };
    let mut signs = text.char_indices();
    while let Some((at, sign)) = signs.next() {
        if let Some(quote) = writer.state.quote {
            writer.out.push(sign);
            if sign == '\\' && quote == '"' {
                writer.out.extend(signs.next().map(|(_, escaped)| escaped));
            } else if sign == quote {
                writer.state.quote = None;
            }
            continue;
        }
        let is_comment = sign == '#' && text[..at].chars().next_back().is_none_or(|before| before == ' ');
        if is_comment {
            let width = writer.out.chars().count();
            let column = text[..at].chars().count();
            let gap = if width == 0 { 0 } else { gap(width, column) };
            writer.out.push_str(&" ".repeat(gap));
            writer.out.push_str(&text[at..]);
            break;
        }
        let starts = writer.out.chars().next_back().is_none_or(|before| !before.is_alphanumeric());
        writer.sign(sign, starts || writer.gap);
    }
    let text = if writer.state.quote.is_some() { writer.out } else { writer.out.trim_end().to_owned() };
    (text, writer.state)
}

struct Writer {
    out: String,
    state: State,
    /// Whether there were spaces before.
    gap: bool,
}

impl Writer {
    fn sign(&mut self, sign: char, starts: bool) {
        let gap = std::mem::take(&mut self.gap);
        match sign {
            ' ' => self.gap = true,
            '{' | '[' => {
                self.space(gap);
                self.out.push(sign);
                self.state.depth += 1;
            }
            '}' => {
                if self.out.ends_with(|before| before != '{' && before != ' ') {
                    self.out.push(' ');
                }
                self.out.push(sign);
                self.state.depth = self.state.depth.saturating_sub(1);
            }
            ']' => {
                self.out.push(sign);
                self.state.depth = self.state.depth.saturating_sub(1);
            }
            ',' => self.out.push(sign),
            '"' | '\'' if starts => {
                self.space(gap);
                self.out.push(sign);
                self.state.quote = Some(sign);
            }
            _ => {
                self.space(gap);
                self.out.push(sign);
            }
        }
    }

    /// Puts a space where one is required, or where there was one.
    fn space(&mut self, gap: bool) {
        let wanted = match self.out.chars().next_back() {
            None | Some('[') => false,
            Some('{' | ',') => true,
            Some(_) => gap,
        };
        if wanted {
            self.out.push(' ');
        }
    }
}
