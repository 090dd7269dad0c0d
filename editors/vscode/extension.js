// Starts `closc lsp` for fabric files.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const settings = workspace.getConfiguration("closc");
  const server = { command: settings.get("path"), args: [...settings.get("arguments"), "lsp"] };
  const fabric = [{ scheme: "file", language: "closc" }, { scheme: "untitled", language: "closc" }];
  client = new LanguageClient("closc", "closc", server, { documentSelector: fabric });
  return client.start();
};

exports.deactivate = () => client && client.stop();
