//! Maintenance tasks of the repository: `cargo xtask schema`, `docs`, `count`, `platforms` and `playground`.
//!
//! In: a task and `--check`. Out: generated files written, or with `--check` a failure that names those that are stale.
//! Invariants: a task is one file under `tasks/`; those in [`TASKS`] generate committed files, and a test runs every
//! one of them with `--check`.

mod generated;
mod tasks;

use std::process::ExitCode;

use anyhow::{Context, bail};

use generated::{Generated, root};

/// A task: its name, its output, and its function.
struct Task {
    name: &'static str,
    summary: &'static str,
    run: fn() -> anyhow::Result<Vec<Generated>>,
}

const TASKS: &[Task] = &[
    Task { name: "schema", summary: "Write the JSON Schemas from the types", run: tasks::schema::run },
    Task {
        name: "docs",
        summary: "Write the references of language and commands, and the pages of all rules",
        run: tasks::docs::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> anyhow::Result<()> {
    let check = arguments.iter().any(|argument| argument == "--check");
    let names: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    if names.iter().map(|name| name.as_str()).eq(["count", "verbs"]) {
        return tasks::count::run(true);
    }
    if arguments.first().is_some_and(|name| name == "platforms") {
        let folder = arguments.iter().skip_while(|argument| *argument != "--sonic-buildimage").nth(1);
        let folder = folder.context("write --sonic-buildimage DIR, a git directory or checkout")?;
        return tasks::platforms::run(
            folder.as_ref(),
            arguments.iter().any(|argument| argument == "--write"),
        );
    }
    if names.iter().map(|name| name.as_str()).eq(["playground"]) {
        return tasks::playground::run(arguments.iter().any(|argument| argument == "--tools"));
    }
    let [name] = names[..] else { bail!("say which task to run\n\n{}", usage()) };
    if name == "count" {
        return tasks::count::run(false);
    }
    let task = TASKS.iter().find(|task| task.name == name);
    let task = task.with_context(|| format!("there is no task `{name}`\n\n{}", usage()))?;
    let files = (task.run)()?;
    if check {
        return generated::check(&root(), &files, task.name);
    }
    generated::write(&root(), &files)?;
    if task.name == "docs" { tasks::commands::run() } else { Ok(()) }
}

fn usage() -> String {
    let tasks: Vec<String> =
        TASKS.iter().map(|task| format!("  {:<8} {}", task.name, task.summary)).collect();
    let count = "  count    Count the instructions of each stage (needs valgrind; never checked)";
    let verbs =
        "  count verbs  The same of whole commands, from 8 thousand NICs to a million (takes many minutes)";
    let platforms = "  platforms --sonic-buildimage DIR [--write]  Derive catalogue entries from a git directory or checkout";
    let playground =
        "  playground  Write docs/playground.html (--tools: only find the compiler for WebAssembly)";
    format!(
        "usage: cargo xtask TASK [--check]\n\n{}\n{count}\n{verbs}\n{platforms}\n{playground}",
        tasks.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_fresh() {
        for task in TASKS {
            let files = (task.run)().unwrap_or_else(|error| panic!("{}: {error:#}", task.name));
            generated::check(&root(), &files, task.name).unwrap_or_else(|error| panic!("{error:#}"));
        }
    }

    #[test]
    fn tasks_are_named() {
        assert!(run(&[]).unwrap_err().to_string().contains("usage: cargo xtask TASK"));
        assert!(run(&["paint".to_owned()]).unwrap_err().to_string().contains("there is no task `paint`"));
    }
}
