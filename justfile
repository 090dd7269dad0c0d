# Tasks of the repository. `just --list` lists them.

# Run all checks of CI: formatting, lints and tests.
ci:
    bash .ci/run

# Run the tests.
test:
    cargo test --workspace

# Update the expected output of tests. Read the diff before you commit it.
bless:
    CLOSC_BLESS=1 cargo test --workspace

# Generate the references and the pages of rules again.
docs:
    cargo xtask docs

# Compile the P4 pipelines with p4c. With `--check`, only report pipelines whose compiled files are out of date.
p4 *ARGS:
    p4/pipelines/build {{ARGS}}

# Build the playground, docs/playground.html.
playground:
    cargo xtask playground

# Count the instructions of each stage at three fabric sizes, and write docs/instructions.md (needs valgrind).
count:
    cargo xtask count
