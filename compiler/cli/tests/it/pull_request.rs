//! Runs the steps of the GitHub action and the GitLab job from their files, with a simulated `gh` and `curl` that
//! store comments as files. The comment is created once, replaced, and removed; other comments are kept.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::common::{Place, root};

const FILE: &str = "topologies/lab/two-planes-p4.yaml";

const MARKER: &str = "<!-- closc: difference of fabric files -->";

/// Simulated `gh api`. Comments are files in `$COMMENTS`, named by id.
const GH: &str = r#"#!/bin/bash
set -eu
[ "$1" = api ]; shift
method=GET url= jq=. body=
while [ $# -gt 0 ]; do
  case $1 in
    --paginate) ;;
    --method) method=$2; shift ;;
    --jq) jq=$2; shift ;;
    --field) body=${2#body=@}; shift ;;
    *) url=$1 ;;
  esac
  shift
done
[ -n "$GH_TOKEN" ]
. "$FAKES/comments"
"#;

/// Simulated `curl` with the same comments.
const CURL: &str = r#"#!/bin/bash
set -eu
method=GET url= jq=. body=
while [ $# -gt 0 ]; do
  case $1 in
    --fail|--silent|--show-error) ;;
    --header) [ "$2" = "PRIVATE-TOKEN: secret" ]; shift ;;
    --request) method=$2; shift ;;
    --data-urlencode) body=${2#body@}; shift ;;
    *) url=$1 ;;
  esac
  shift
done
. "$FAKES/comments"
"#;

/// Common part of the simulated `gh` and `curl`, with inputs `method`, `url`, `jq` and `body`.
const COMMENTS: &str = r#"
case $method in
  GET) for file in "$COMMENTS"/*; do jq -n --arg id "${file##*/}" --rawfile body "$file" '{ id: ($id | tonumber), body: $body }'; done | jq -s . | jq -r "$jq" ;;
  POST) cp "$body" "$COMMENTS/$(($(ls "$COMMENTS" | sort -n | tail -1) + 1))" ;;
  PATCH|PUT) [ -e "$COMMENTS/${url##*/}" ] && cp "$body" "$COMMENTS/${url##*/}" ;;
  DELETE) rm "$COMMENTS/${url##*/}" ;;
esac
"#;

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("the folder is ours");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("the file is ours");
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let name = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
    let output = Command::new("git").current_dir(folder).args(name).args(arguments).output();
    let output = output.expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

/// Returns the commands of the action's steps.
fn action() -> Vec<String> {
    let text = fs::read_to_string(root().join("action.yml")).expect("the action is there");
    let mut steps: Vec<String> = Vec::new();
    let mut is_block = false;
    for line in text.lines() {
        if let Some(run) = line.strip_prefix("      run: ") {
            is_block = run == "|";
            steps.push(if is_block { String::new() } else { run.trim_matches('\'').to_owned() });
        } else if let Some(line) = line.strip_prefix("        ").filter(|_| is_block) {
            steps.last_mut().expect("a block follows a step").extend([line, "\n"]);
        } else {
            is_block = false;
        }
    }
    steps
}

/// Returns the script of the GitLab job.
fn job() -> Vec<String> {
    let text = fs::read_to_string(root().join("packaging/ci/gitlab.yml")).expect("the job is there");
    let script = text.lines().skip_while(|line| *line != "  script:").skip(1);
    script.map_while(|line| line.strip_prefix("    - ")).map(str::to_owned).collect()
}

/// A fabric without warnings.
fn fabric(place: &Place) -> String {
    place.read(FILE) + "warnings: { W0703: allow }\n"
}

/// A clone with a change, and the environment of a pipeline.
struct Pipeline {
    place: Place,
    steps: Vec<String>,
    base: String,
}

impl Pipeline {
    fn new(steps: Vec<String>) -> Self {
        let place = Place::new();
        let origin = place.path("origin");
        fs::create_dir(&origin).expect("the folder is ours");
        git(&origin, &["init", "--quiet"]);
        git(&origin, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
        fs::write(origin.join("fabric.yaml"), fabric(&place)).expect("the folder is ours");
        git(&origin, &["add", "."]);
        git(&origin, &["commit", "--quiet", "--message", "one"]);
        let base = git(&origin, &["rev-parse", "HEAD"]);
        git(&place.path("."), &["clone", "--quiet", "origin", "clone"]);
        for folder in ["fakes", "comments", "temp"] {
            fs::create_dir(place.path(folder)).expect("the folder is ours");
        }
        write(&place.path("fakes/gh"), GH);
        write(&place.path("fakes/curl"), CURL);
        write(&place.path("fakes/comments"), COMMENTS);
        place.write("comments/1", "coverage fell by 2 %");
        Pipeline { place, steps, base }
    }

    /// Runs all steps; returns the comments in order.
    fn run(&self, fabric: &str) -> Vec<String> {
        self.place.write("clone/fabric.yaml", fabric);
        let closc = Path::new(env!("CARGO_BIN_EXE_closc")).parent().expect("a folder");
        let path = std::env::var("PATH").expect("a path");
        for step in &self.steps {
            let mut command = Command::new("bash");
            command.args(["-e", "-o", "pipefail", "-c", step]).current_dir(self.place.path("clone"));
            command.env("PATH", format!("{}:{}:{path}", self.place.text("fakes"), closc.display()));
            command.env("FAKES", self.place.path("fakes")).env("COMMENTS", self.place.path("comments"));
            command.envs([("FILES", "fabric.yaml"), ("DENY", ""), ("NUMBER", "7"), ("BASE", &self.base)]);
            command.envs([("GITHUB_REPOSITORY", "me/net"), ("GH_TOKEN", "secret")]);
            command.env("GITHUB_ACTION_PATH", root()).env("RUNNER_TEMP", self.place.path("temp"));
            command.env("GITHUB_STEP_SUMMARY", self.place.path("temp/summary"));
            command.env("GITHUB_OUTPUT", self.place.path("temp/output"));
            command.envs([
                ("FABRIC_FILES", "fabric.yaml"),
                ("CLOSC_TOKEN", "secret"),
                ("CI_PROJECT_ID", "1"),
            ]);
            command.envs([("CI_API_V4_URL", "http://gitlab/api/v4"), ("CI_MERGE_REQUEST_IID", "7")]);
            command.env("CI_MERGE_REQUEST_DIFF_BASE_SHA", &self.base).env("CLOSC", root());
            let output = command.output().expect("bash runs");
            let said = [output.stdout, output.stderr].concat();
            assert!(output.status.success(), "{step}: {}", String::from_utf8_lossy(&said));
        }
        let files = fs::read_dir(self.place.path("comments")).expect("the folder is ours");
        let mut files: Vec<_> = files.map(|file| file.expect("it is ours").path()).collect();
        files.sort();
        files.iter().map(|file| fs::read_to_string(file).expect("text")).collect()
    }

    fn keeps_one_comment(&self) {
        let text = fabric(&self.place);
        let longer = text.replace("t0-t1: { length: 1m", "t0-t1: { length: 3m");
        assert_ne!(text, longer);
        let first = self.run(&longer);
        assert_eq!(first.len(), 2, "{first:?}");
        assert_eq!(first[0], "coverage fell by 2 %");
        assert!(first[1].starts_with(&format!("{MARKER}\n### `git:{}:fabric.yaml`", self.base)), "{first:?}");
        assert!(first[1].contains("hitless**") && first[1].contains("1m virtual -> 3m virtual"), "{first:?}");
        let second = self.run(&longer.replace("length: 3m", "length: 5m"));
        assert_eq!((second.len(), &second[0]), (2, &first[0]));
        assert!(second[1].starts_with(MARKER) && second[1].contains("-> 5m virtual"), "{second:?}");
        assert_eq!(self.run(&text), [first[0].clone()]);
        // The first run without a difference removed all comments of closc, so a second run has nothing to
        // remove.
        assert_eq!(self.run(&text).len(), 1);
    }
}

#[test]
fn the_action_keeps_one_comment() {
    if closc_skip::program("jq").is_none() {
        return;
    }
    let steps = action();
    assert_eq!(steps.len(), 4, "{steps:?}");
    let pipeline = Pipeline::new(steps);
    pipeline.keeps_one_comment();
    let output = pipeline.place.read("temp/output");
    assert!(output.starts_with("differs=true\n") && output.ends_with("differs=false\n"), "{output}");
}

#[test]
fn the_gitlab_job_keeps_one_note() {
    if closc_skip::program("jq").is_none() {
        return;
    }
    let steps = job();
    assert_eq!(steps.len(), 4, "{steps:?}");
    Pipeline::new(steps).keeps_one_comment();
}
