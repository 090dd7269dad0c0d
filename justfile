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

# Compile the P4 pipelines, where p4c is installed.
p4:
    cd p4/pipelines/fabric && p4c-bm2-ss --arch v1model --p4runtime-files fabric.p4info.txtpb -o fabric.bmv2.json fabric.p4
    cd p4/pipelines/fabric && sha256sum fabric.p4 include/*.p4 fabric.p4info.txtpb fabric.bmv2.json > fabric.digest

# Count instructions at three sizes and write them into the tree (needs valgrind).
count:
    cargo xtask count
