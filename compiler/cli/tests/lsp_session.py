"""A session of `closc lsp` with the client of pygls, which is independent of closc.

usage: lsp_session.py CLOSC FABRIC    (FABRIC: topologies/reference/mrc-8x512.yaml)
"""

import asyncio
import pathlib
import sys
import time

from lsprotocol import types
from pygls.lsp.client import LanguageClient


class Editor(LanguageClient):
    """A client that stores published diagnostics."""

    def __init__(self):
        super().__init__("closc-test", "1")
        self.found = asyncio.Queue()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams):
            self.found.put_nowait(params)


def position(text, piece):
    """The position after the first character of a piece of a text."""
    before = text[: text.index(piece) + 1]
    return types.Position(line=before.count("\n"), character=len(before) - before.rfind("\n") - 1)


async def session(closc, fabric):
    text = pathlib.Path(fabric).read_text()
    uri = pathlib.Path(fabric).resolve().as_uri()
    identifier = types.TextDocumentIdentifier(uri=uri)
    editor = Editor()
    await editor.start_io(closc, "lsp")
    started = await editor.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
    assert started.server_info.name == "closc", started
    editor.initialized(types.InitializedParams())
    document = types.TextDocumentItem(uri=uri, language_id="yaml", version=1, text=text)
    editor.text_document_did_open(types.DidOpenTextDocumentParams(text_document=document))
    published = await editor.found.get()
    assert not [found for found in published.diagnostics if found.severity == types.DiagnosticSeverity.Error], published

    async def hover(piece, text):
        place = types.HoverParams(text_document=identifier, position=position(text, piece))
        return (await editor.text_document_hover_async(place)).contents.value

    plan = await hover("routing", text)
    assert "addresses of NICs" in plan and "loopbacks of switches" in plan and "uSIDs" in plan, plan
    assert "131,072" in await hover("hosts", text)

    async def change(new, version):
        whole = [types.TextDocumentContentChangeWholeDocument(text=new)]
        identified = types.VersionedTextDocumentIdentifier(uri=uri, version=version)
        started = time.monotonic()
        editor.text_document_did_change(
            types.DidChangeTextDocumentParams(text_document=identified, content_changes=whole)
        )
        published = await editor.found.get()
        assert published.version == version, published
        print(f"version {version}: findings after {1000 * (time.monotonic() - started):.1f} ms")
        return published.diagnostics

    slower = text.replace("speed: 800G", "speed: 400G")
    assert slower != text
    found = await change(slower, 2)
    speed = [finding for finding in found if finding.code == "E0205"]
    assert len(speed) == 1, found
    context = types.CodeActionContext(diagnostics=speed)
    asked = types.CodeActionParams(text_document=identifier, range=speed[0].range, context=context)
    actions = await editor.text_document_code_action_async(asked)
    fixes = [action for action in actions if action.title.startswith("E0205")]
    assert fixes, actions
    edits = sorted(fixes[0].edit.changes[uri], key=lambda edit: (edit.range.start.line, edit.range.start.character))
    lines = slower.split("\n")
    for edit in reversed(edits):
        start, end = edit.range.start, edit.range.end
        assert start.line == end.line
        line = lines[start.line]
        lines[start.line] = line[: start.character] + edit.new_text + line[end.character :]
    found = await change("\n".join(lines), 3)
    assert not [finding for finding in found if finding.code == "E0205"], found
    print(f"fixed by: {fixes[0].title}")
    await editor.shutdown_async(None)
    editor.exit(None)
    await editor.stop()


asyncio.run(session(*sys.argv[1:3]))
print("the session ended well")
