//! Pages for `man`: one for the command, and one for each of its subcommands.

use std::io;

use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};

use crate::{EXIT_CODES, build, closing_paragraphs, full_name, is_omitted, visible_commands};

/// Parts of the manual that a [`Command`] does not define.
#[derive(Debug, Clone, Copy)]
pub struct Manual<'a> {
    /// The manual section; `1` for commands.
    pub section: &'a str,
    /// Files and environment variables, each with its purpose.
    pub files: &'a [(&'a str, &'a str)],
    /// Command lines, each with a description.
    pub examples: &'a [(&'a str, &'a str)],
    /// Other pages, with their sections: `man(1)`.
    pub see_also: &'a [&'a str],
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// File name, such as `closc-lab-up.1`.
    pub name: String,
    /// Text of the page.
    pub text: Vec<u8>,
}

impl Manual<'_> {
    /// Generates the pages of a command and of all its subcommands.
    pub fn pages(&self, command: Command) -> io::Result<Vec<Page>> {
        let command = build(command);
        let mut pages = Vec::new();
        self.collect(&command, None, &mut pages)?;
        Ok(pages)
    }

    fn collect(&self, command: &Command, above: Option<&Command>, pages: &mut Vec<Page>) -> io::Result<()> {
        pages.push(Page { name: self.file(command), text: self.page(command, above)? });
        visible_commands(command).try_for_each(|sub| self.collect(sub, Some(command), pages))
    }

    fn file(&self, command: &Command) -> String {
        format!("{}.{}", title(command), self.section)
    }

    fn page(&self, command: &Command, above: Option<&Command>) -> io::Result<Vec<u8>> {
        let is_top = above.is_none();
        let top = full_name(command).split(' ').next().unwrap_or_default();
        let kept = |mut command: Command| {
            let omitted: Vec<_> = command.get_arguments().filter(|arg| is_omitted(arg, is_top)).collect();
            let omitted: Vec<_> = omitted.into_iter().map(|arg| arg.get_id().clone()).collect();
            for id in omitted {
                command = command.mut_arg(id, |arg| arg.hide(true));
            }
            let is_empty = |arg: &Arg| arg.get_default_values().iter().all(|value| value.is_empty());
            command.subcommand_value_name("command").mut_args(|arg| {
                let hides = is_empty(&arg);
                arg.hide_default_value(hides)
            })
        };
        let version = command.get_version().unwrap_or_default();
        let man = Man::new(kept(command.clone()))
            .title(title(command))
            .section(self.section)
            .source(format!("{top} {version}"))
            .manual(format!("Manual of {top}"));
        let mut text = Vec::new();
        man.render_title(&mut text)?;
        man.render_name_section(&mut text)?;
        man.render_synopsis_section(&mut text)?;
        man.render_description_section(&mut text)?;
        if command.get_arguments().any(|arg| !is_omitted(arg, is_top)) {
            man.render_options_section(&mut text)?;
        }
        let mut roff = Roff::new();
        if !is_top {
            roff.control("PP", []);
            roff.text([roman("Global options are described in "), bold(top), roman("(1).")]);
        }
        self.commands(command, &mut roff);
        end(command, &mut roff);
        if is_top {
            self.files_and_examples(&mut roff);
        }
        self.see_also(above, &mut roff);
        text.extend_from_slice(roff.to_roff().as_bytes());
        Ok(text)
    }

    fn commands(&self, command: &Command, roff: &mut Roff) {
        if visible_commands(command).next().is_none() {
            return;
        }
        roff.control("SH", ["COMMANDS"]);
        for sub in visible_commands(command) {
            roff.control("TP", []);
            roff.text([bold(title(sub)), roman(format!("({})", self.section))]);
            roff.text([roman(sub.get_about().map(ToString::to_string).unwrap_or_default())]);
        }
    }

    fn files_and_examples(&self, roff: &mut Roff) {
        if !self.files.is_empty() {
            roff.control("SH", ["FILES AND ENVIRONMENT"]);
        }
        for (name, meaning) in self.files {
            roff.control("TP", []);
            roff.text([bold(*name)]);
            roff.text([roman(*meaning)]);
        }
        if !self.examples.is_empty() {
            roff.control("SH", ["EXAMPLES"]);
        }
        for (line, meaning) in self.examples {
            roff.control("TP", []);
            roff.text([bold(*line)]);
            roff.text([roman(*meaning)]);
        }
    }

    fn see_also(&self, above: Option<&Command>, roff: &mut Roff) {
        let mut pages: Vec<String> =
            above.map(|above| format!("{}({})", title(above), self.section)).into_iter().collect();
        if above.is_none() {
            pages.extend(self.see_also.iter().map(|page| (*page).to_owned()));
        }
        if !pages.is_empty() {
            roff.control("SH", ["SEE ALSO"]);
            let named: Vec<Inline> = pages
                .iter()
                .enumerate()
                .flat_map(|(at, page)| {
                    let (name, section) = page.split_once('(').unwrap_or((page, ""));
                    let comma = if at == 0 { "" } else { ", " };
                    [roman(comma), bold(name), roman(format!("({section}"))]
                })
                .collect();
            roff.text(named);
        }
    }
}

/// Returns the title of a command's page, such as `closc-lab-up`.
fn title(command: &Command) -> String {
    full_name(command).replace(' ', "-")
}

/// Adds notes and exit codes. Notes with columns are not rewrapped.
fn end(command: &Command, roff: &mut Roff) {
    let (notes, exits) = closing_paragraphs(command);
    if !notes.is_empty() {
        roff.control("SH", ["NOTES"]);
    }
    for note in notes {
        let has_columns = note.lines().any(|line| line.starts_with(' '));
        roff.control("PP", []);
        if has_columns {
            roff.control("nf", []);
        }
        for line in note.lines() {
            roff.text([roman(line)]);
        }
        if has_columns {
            roff.control("fi", []);
        }
    }
    if !exits.is_empty() {
        roff.control("SH", ["EXIT STATUS"]);
    }
    for exit in exits {
        let text = exit.strip_prefix(EXIT_CODES).unwrap_or(&exit);
        let mut letters = text.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
        roff.text([roman(format!("{first}{}.", letters.as_str().trim_end_matches('.')))]);
    }
}
