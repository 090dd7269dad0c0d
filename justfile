# Chores. `just --list` shows them.

# Format, lint and test, as CI does.
ci:
    bash .ci/run

# Run the tests.
test:
    cargo test --workspace

# Write the expected output of tests anew; read the diff before you commit it.
bless:
    CLOSC_BLESS=1 cargo test --workspace

# Write the schema and the generated documents anew.
docs:
    cargo xtask docs

# Compile the P4 pipelines, where p4c is installed; with `--check`, only say which are stale.
p4 *ARGS:
    p4/pipelines/build {{ARGS}}

# Build the playground, docs/playground.html.
playground:
    cargo xtask playground

# Count instructions at three sizes and write them into the tree (needs valgrind).
count:
    cargo xtask count
