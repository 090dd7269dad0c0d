//! The syntax that NCCL's XML parser accepts, from 2.21 to 2.30.7.
//!
//! In: the text of a topology file. Out: its elements, or the reason why NCCL exits at startup. Invariants: limits are
//! the smallest of these releases. Sources: NVIDIA/nccl `src/graph/xml.h` (`MAX_STR_LEN` 255, `MAX_ATTR_COUNT` 16,
//! `MAX_SUBS` 128 to 2.28 and 640 from 2.29), `src/graph/topo.h` (`NCCL_TOPO_XML_MAX_NODES` 256), and the behaviour of
//! `src/graph/xml.cc`:
//!
//! - the parser requires room for one more element before each tag, including end tags;
//! - a name or value has 253 bytes at most, because its delimiter must be among the first 254;
//! - each attribute follows exactly one space; only spaces and ends of lines are between tags;
//! - NCCL skips elements that are not valid at their place, with their children. Here they are an error, so that
//!   nothing is lost unnoticed.

/// Maximum number of elements, including those that NCCL adds.
pub(crate) const ELEMENTS_MAX: usize = 256;

const LENGTH_MAX: usize = 253;
const ATTRIBUTES_MAX: usize = 16;
const CHILDREN_MAX: usize = 128;

/// Characters that end the name of an element.
const NAME_ENDS: &[char] = &[' ', '>', '/', '\n', '\r'];

/// An element with its children.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    pub(crate) name: String,
    attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Element>,
    is_open: bool,
}

impl Element {
    /// Returns the value of an attribute.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

enum Tag {
    Element(Element),
    End(String),
    Nothing,
}

/// Reads a file.
pub(crate) fn parse(text: &str) -> Result<Element, String> {
    let mut reader = Reader { rest: text, elements: 0 };
    let mut root =
        Element { name: String::new(), attributes: Vec::new(), children: Vec::new(), is_open: true };
    reader.children(&mut root)?;
    let [system] = root.children.as_slice() else { return Err("expected exactly one `system`".to_owned()) };
    match system.get("version") {
        Some("1") => Ok(system.clone()),
        other => Err(format!("`system` has version {}", other.unwrap_or("none"))),
    }
}

/// Counts the elements of a file, without a limit.
pub(crate) fn count(text: &str) -> usize {
    text.match_indices('<').filter(|(at, _)| !text[at + 1..].starts_with('/')).count()
}

struct Reader<'a> {
    rest: &'a str,
    elements: usize,
}

impl Reader<'_> {
    fn children(&mut self, parent: &mut Element) -> Result<(), String> {
        while parent.is_open {
            if self.elements == ELEMENTS_MAX {
                return Err(format!("more than {ELEMENTS_MAX} elements"));
            }
            match self.tag()? {
                Tag::Nothing if parent.name.is_empty() => return Ok(()),
                Tag::Nothing => return Err(format!("`{}` has no end tag", parent.name)),
                Tag::End(name) if name == parent.name => return Ok(()),
                Tag::End(name) => return Err(format!("`{}` ends with `{name}`", parent.name)),
                Tag::Element(mut child) => {
                    if !is_valid_in(&parent.name, &child.name) {
                        return Err(format!("`{}` is not valid at its place", child.name));
                    }
                    if parent.children.len() == CHILDREN_MAX {
                        return Err(format!("more than {CHILDREN_MAX} elements in `{}`", parent.name));
                    }
                    self.elements += 1;
                    self.children(&mut child)?;
                    parent.children.push(child);
                }
            }
        }
        Ok(())
    }

    fn tag(&mut self) -> Result<Tag, String> {
        self.rest = self.rest.trim_start_matches([' ', '\n', '\r']);
        let Some(first) = self.rest.chars().next() else { return Ok(Tag::Nothing) };
        if first != '<' {
            return Err(format!("expected `<`, found `{first}`"));
        }
        self.rest = &self.rest[1..];
        let (name, mut last) = self.until(NAME_ENDS)?;
        if name.is_empty() && last == '/' {
            return self.until(NAME_ENDS).map(|(name, _)| Tag::End(name));
        }
        let mut attributes = Vec::new();
        while last == ' ' {
            let (key, _) = self.until(&['='])?;
            let quote = self.next()?;
            if quote != '"' && quote != '\'' {
                return Err(format!("`{key}` has a value without quotes"));
            }
            attributes.push((key, self.until(&[quote])?.0));
            last = self.next()?;
        }
        if attributes.len() > ATTRIBUTES_MAX {
            return Err(format!("more than {ATTRIBUTES_MAX} attributes in `{name}`"));
        }
        let is_open = last != '/';
        if !is_open {
            last = self.next()?;
        }
        match last {
            '>' => Ok(Tag::Element(Element { name, attributes, children: Vec::new(), is_open })),
            other => Err(format!("expected `>`, found `{other}`")),
        }
    }

    /// Reads text up to a delimiter, and the delimiter.
    fn until(&mut self, ends: &[char]) -> Result<(String, char), String> {
        let at = self.rest.find(ends).ok_or("end of file inside a tag")?;
        if at > LENGTH_MAX {
            return Err(format!("a value of more than {LENGTH_MAX} bytes"));
        }
        let text = self.rest[..at].to_owned();
        self.rest = &self.rest[at..];
        Ok((text, self.next()?))
    }

    fn next(&mut self) -> Result<char, String> {
        let next = self.rest.chars().next().ok_or("end of file inside a tag")?;
        self.rest = &self.rest[next.len_utf8()..];
        Ok(next)
    }
}

/// Returns whether NCCL reads an element inside another one.
fn is_valid_in(parent: &str, child: &str) -> bool {
    matches!(
        (parent, child),
        ("", "system")
            | ("system", "cpu")
            | ("cpu", "pci" | "nic")
            | ("pci", "pci" | "gpu" | "nic" | "pcilink")
            | ("nic", "net")
            | ("gpu", "nvlink" | "c2c")
    )
}
