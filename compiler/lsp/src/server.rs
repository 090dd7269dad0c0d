//! The session: requests of an editor, and their answers.
//!
//! In: messages. Out: answers, and findings after each change of a text. Invariants: pending changes of a
//! text are read together. Every request is answered, even if it is about a text with errors. The session
//! ends as the protocol requires.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::thread;

use closc_compile::front::{self, FrontError, Options, Reading, Source};
use closc_diagnostics::{Diagnostics, SourceId, Sources, Trust};
use closc_platform::Catalogue;
use lsp_server::{Connection, ErrorCode, ExtractError, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Exit, Initialized, Notification as _,
    PublishDiagnostics,
};
use lsp_types::request::{
    CodeActionRequest, Completion, Formatting, GotoDefinition, HoverRequest, Initialize, Request as _,
};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionOrCommand, CompletionList, CompletionOptions,
    CompletionResponse, GotoDefinitionResponse, Hover, HoverContents, HoverProviderCapability,
    InitializeParams, Location, MarkupContent, MarkupKind, OneOf, Position, PublishDiagnosticsParams, Range,
    ServerCapabilities, TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextEdit, Uri,
};
use serde_json::Value;

use crate::definition::{self, Definition};
use crate::language::Language;
use crate::place::Place;
use crate::stream::Backlog;
use crate::text::{Columns, Text};
use crate::{actions, completion, findings, hover, stream, uri};

/// Reason why a session ends early.
#[derive(Debug, thiserror::Error)]
pub enum LspError {
    /// The editor does not follow the protocol, or has disconnected.
    #[error("the editor: {0}")]
    Protocol(#[from] lsp_server::ProtocolError),
    /// The session begins with another message.
    #[error("the editor: expected `{0}`, found another message")]
    Order(&'static str),
    /// The stream ended before the session began.
    #[error("the editor closed the stream before the session began")]
    Unbegun,
    /// The start message cannot be read.
    #[error("the start message of the editor is invalid: {0}")]
    Message(#[from] serde_json::Error),
    /// Messages can no longer be sent.
    #[error("the editor reads no answers")]
    Gone,
    /// Platforms of the site cannot be read.
    #[error(transparent)]
    Platforms(#[from] FrontError),
    /// Standard input or output fails.
    #[error("standard input and output: {0}")]
    Streams(#[from] std::io::Error),
}

/// Serves the editor at standard input and output until it ends the session.
pub fn serve(options: &Options) -> Result<(), LspError> {
    let (to_session, receiver) = crossbeam_channel::bounded(stream::WAITING_MAX);
    let (sender, from_session) = crossbeam_channel::bounded(0);
    let (answers, backlog) = (Arc::new(Mutex::new(io::stdout())), Arc::new(Backlog::default()));
    let reader = thread::spawn({
        let (answers, backlog) = (Arc::clone(&answers), Arc::clone(&backlog));
        move || stream::receive(io::stdin().lock(), &to_session, &backlog, &answers)
    });
    let writer = thread::spawn(move || stream::send(&from_session, &answers));
    let connection = Connection { sender, receiver };
    let ended = run_with(&connection, options, &backlog);
    drop(connection);
    let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    // After an error, wait for the reader only if the editor has closed the stream: the last bytes that it sent
    // may explain the error. Otherwise, the editor may keep the stream open.
    let is_gone = match &ended {
        Err(LspError::Protocol(error)) => error.channel_is_disconnected(),
        Err(LspError::Unbegun) => true,
        _ => false,
    };
    if is_gone || ended.is_ok() {
        reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    }
    ended?;
    Ok(written?)
}

/// Serves an editor until it ends the session.
pub fn run(connection: &Connection, options: &Options) -> Result<(), LspError> {
    run_with(connection, options, &Backlog::default())
}

fn run_with(connection: &Connection, options: &Options, backlog: &Backlog) -> Result<(), LspError> {
    let (id, params) = initialize(connection, backlog)?;
    let params: InitializeParams = serde_json::from_value(params)?;
    let general = params.capabilities.general.as_ref();
    let columns = Columns::from_encodings(general.and_then(|general| general.position_encodings.as_deref()));
    let answer = serde_json::json!({
        "capabilities": capabilities(columns),
        "serverInfo": { "name": "closc", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.sender.send(Response::new_ok(id, answer).into()).map_err(|_| LspError::Gone)?;
    match first(connection, backlog)? {
        Message::Notification(notification) if notification.method == Initialized::METHOD => {}
        _ => return Err(LspError::Order(Initialized::METHOD)),
    }
    let (mut sources, mut faults) = (Sources::new(), Diagnostics::new());
    let catalogue = front::catalogue(&options.platforms, &mut sources, &mut faults)?;
    let mut session = Session {
        connection,
        backlog,
        options,
        columns,
        catalogue,
        sites: sources,
        language: Language::new(),
        open: BTreeMap::new(),
    };
    session.serve()
}

/// Waits for `initialize`: earlier requests are rejected, and earlier notifications are dropped. `lsp-server`
/// can do this too, but its answer to an early request repeats the complete request.
fn initialize(connection: &Connection, backlog: &Backlog) -> Result<(RequestId, Value), LspError> {
    loop {
        match first(connection, backlog)? {
            Message::Request(request) if request.method == Initialize::METHOD => {
                return Ok((request.id, request.params));
            }
            Message::Request(request) => {
                let why = format!("expected `{}` first", Initialize::METHOD);
                let answer = Response::new_err(request.id, ErrorCode::ServerNotInitialized as i32, why);
                connection.sender.send(answer.into()).map_err(|_| LspError::Gone)?;
            }
            Message::Notification(notification) if notification.method != Exit::METHOD => {}
            Message::Notification(_) | Message::Response(_) => {
                return Err(LspError::Order(Initialize::METHOD));
            }
        }
    }
}

/// Receives one message before the session begins.
fn first(connection: &Connection, backlog: &Backlog) -> Result<Message, LspError> {
    let message = connection.receiver.recv().map_err(|_| LspError::Unbegun)?;
    backlog.keep(connection.receiver.len());
    Ok(message)
}

fn capabilities(columns: Columns) -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(columns.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([" ", "{", "[", ","].map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(
            CodeActionOptions {
                code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, CodeActionKind::SOURCE_FIX_ALL]),
                ..CodeActionOptions::default()
            }
            .into(),
        ),
        document_formatting_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

/// A session with an editor.
struct Session<'a> {
    connection: &'a Connection,
    backlog: &'a Backlog,
    options: &'a Options,
    columns: Columns,
    catalogue: Catalogue,
    /// The platform files.
    sites: Sources,
    language: Language,
    open: BTreeMap<String, OpenDocument>,
}

/// An open file.
struct OpenDocument {
    uri: Uri,
    text: Text,
    /// Result of reading the text; `None` between a change and the next reading.
    reading: Option<Reading>,
}

impl Session<'_> {
    fn serve(&mut self) -> Result<(), LspError> {
        while let Ok(message) = self.connection.receiver.recv() {
            let waiting = self.queued_messages(message);
            let changed = last_changes(&waiting);
            for (at, message) in waiting.into_iter().enumerate() {
                match message {
                    Message::Request(request) => {
                        if self.connection.handle_shutdown(&request)? {
                            return Ok(());
                        }
                        let file = file_of(&request.params);
                        if file.and_then(|file| changed.get(file)).is_some_and(|change| *change > at) {
                            self.refuse_outdated(request.id)?;
                        } else {
                            self.answer(request)?;
                        }
                    }
                    Message::Notification(notification) => self.take(notification)?,
                    Message::Response(_) => {}
                }
            }
            self.read()?;
        }
        Ok(())
    }

    /// Returns a message and all messages that are queued after it. Only `exit` may follow `shutdown`, and
    /// `handle_shutdown` reads it.
    fn queued_messages(&self, first: Message) -> Vec<Message> {
        let is_last =
            |message: &Message| matches!(message, Message::Request(asked) if asked.method == "shutdown");
        let mut waiting = vec![first];
        while !waiting.last().is_some_and(is_last)
            && let Ok(next) = self.connection.receiver.try_recv()
        {
            waiting.push(next);
        }
        self.backlog.keep(self.connection.receiver.len());
        waiting
    }

    /// Rejects a request about a text that has changed after the request. The editor repeats the request if
    /// it still needs the answer.
    fn refuse_outdated(&self, id: RequestId) -> Result<(), LspError> {
        let message = "the text changed after this request".to_owned();
        self.send(Response::new_err(id, ErrorCode::ContentModified as i32, message).into())
    }

    /// Handles the opening, a change or the closing of a text. A notification that cannot be read is ignored.
    fn take(&mut self, notification: Notification) -> Result<(), LspError> {
        let params = notification.params;
        match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                let Ok(opened) = serde_json::from_value::<lsp_types::DidOpenTextDocumentParams>(params)
                else {
                    return Ok(());
                };
                let document = opened.text_document;
                let text = Text::new(document.text, document.version, self.columns);
                self.open.insert(
                    document.uri.to_string(),
                    OpenDocument { uri: document.uri, text, reading: None },
                );
            }
            DidChangeTextDocument::METHOD => {
                let Ok(changed) = serde_json::from_value::<lsp_types::DidChangeTextDocumentParams>(params)
                else {
                    return Ok(());
                };
                if let Some(open) = self.open.get_mut(changed.text_document.uri.as_str()) {
                    open.text.change(changed.content_changes, changed.text_document.version);
                    open.reading = None;
                }
            }
            DidCloseTextDocument::METHOD => {
                let Ok(closed) = serde_json::from_value::<lsp_types::DidCloseTextDocumentParams>(params)
                else {
                    return Ok(());
                };
                if let Some(open) = self.open.remove(closed.text_document.uri.as_str()) {
                    self.publish(open.uri, Vec::new(), None)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads every text that changed, and publishes its findings.
    fn read(&mut self) -> Result<(), LspError> {
        let changed: Vec<String> =
            self.open.iter().filter(|(_, open)| open.reading.is_none()).map(|(key, _)| key.clone()).collect();
        for key in changed {
            self.refresh(&key)?;
        }
        Ok(())
    }

    fn refresh(&mut self, key: &str) -> Result<(), LspError> {
        let Some(open) = self.open.get_mut(key).filter(|open| open.reading.is_none()) else { return Ok(()) };
        let source = Source::File(uri::path(&open.uri));
        let reading = front::read_text(&source, open.text.content.as_bytes(), self.options)?;
        let file = reading.sources.find(&source.to_string());
        let found = findings::all(&reading, file, &open.text, &open.uri);
        let (uri, version) = (open.uri.clone(), open.text.version);
        open.reading = Some(reading);
        self.publish(uri, found, Some(version))
    }

    fn publish(
        &self,
        uri: Uri,
        found: Vec<lsp_types::Diagnostic>,
        version: Option<i32>,
    ) -> Result<(), LspError> {
        let params = PublishDiagnosticsParams::new(uri, found, version);
        self.send(Notification::new(PublishDiagnostics::METHOD.to_owned(), params).into())
    }

    fn send(&self, message: Message) -> Result<(), LspError> {
        self.connection.sender.send(message).map_err(|_| LspError::Gone)
    }

    fn answer(&mut self, request: Request) -> Result<(), LspError> {
        self.read()?;
        let id = request.id.clone();
        let answer = match self.result(request) {
            Ok(result) => Response::new_ok(id, result),
            Err(ExtractError::MethodMismatch(request)) => {
                let message = format!("`{}` is not served", request.method);
                Response::new_err(id, ErrorCode::MethodNotFound as i32, message)
            }
            Err(ExtractError::JsonError { error, .. }) => {
                Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string())
            }
        };
        self.send(answer.into())
    }

    fn result(&self, request: Request) -> Result<Value, ExtractError<Request>> {
        match request.method.as_str() {
            HoverRequest::METHOD => {
                let (_, params) = request.extract::<lsp_types::HoverParams>(HoverRequest::METHOD)?;
                Ok(json(&self.hover(&params.text_document_position_params)))
            }
            Completion::METHOD => {
                let (_, params) = request.extract::<lsp_types::CompletionParams>(Completion::METHOD)?;
                Ok(json(&self.completion(&params.text_document_position)))
            }
            GotoDefinition::METHOD => {
                let (_, params) =
                    request.extract::<lsp_types::GotoDefinitionParams>(GotoDefinition::METHOD)?;
                Ok(json(&self.definition(&params.text_document_position_params)))
            }
            CodeActionRequest::METHOD => {
                let (_, params) =
                    request.extract::<lsp_types::CodeActionParams>(CodeActionRequest::METHOD)?;
                Ok(json(&self.actions(&params.text_document.uri, params.range)))
            }
            Formatting::METHOD => {
                let (_, params) =
                    request.extract::<lsp_types::DocumentFormattingParams>(Formatting::METHOD)?;
                Ok(json(&self.format_document(&params.text_document.uri)))
            }
            _ => Err(ExtractError::MethodMismatch(request)),
        }
    }

    /// Returns an open file and a place in it.
    fn place(&self, at: &TextDocumentPositionParams) -> Option<(&OpenDocument, Place<'_>)> {
        let open = self.open.get(at.text_document.uri.as_str())?;
        let place = Place {
            text: &open.text.content,
            offset: open.text.offset(at.position),
            language: &self.language,
            plan: open.reading.as_ref().and_then(|reading| reading.plan.as_ref()),
            catalogue: &self.catalogue,
        };
        Some((open, place))
    }

    fn hover(&self, at: &TextDocumentPositionParams) -> Option<Hover> {
        let (open, place) = self.place(at)?;
        let (value, bytes) = hover::at(&place)?;
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
        Some(Hover { contents, range: Some(open.text.range(bytes)) })
    }

    fn completion(&self, at: &TextDocumentPositionParams) -> Option<CompletionResponse> {
        let (_, place) = self.place(at)?;
        let found = completion::at(&place);
        Some(CompletionResponse::List(CompletionList {
            is_incomplete: found.is_incomplete,
            items: found.items,
        }))
    }

    fn definition(&self, at: &TextDocumentPositionParams) -> Option<GotoDefinitionResponse> {
        let (open, place) = self.place(at)?;
        let file = uri::path(&open.uri);
        let location = match definition::at(&place, &file, &self.sites)? {
            Definition::Here(bytes) => Location::new(open.uri.clone(), open.text.range(bytes)),
            Definition::File(path, line) => {
                let start = Position::new(line, 0);
                Location::new(uri::of(&path)?, Range::new(start, start))
            }
        };
        Some(GotoDefinitionResponse::Scalar(location))
    }

    fn actions(&self, asked: &Uri, range: Range) -> Vec<CodeActionOrCommand> {
        let Some(open) = self.open.get(asked.as_str()) else { return Vec::new() };
        let Some((reading, file)) =
            open.reading.as_ref().and_then(|reading| Some((reading, Self::file(open, reading)?)))
        else {
            return Vec::new();
        };
        let mut found = actions::all(reading, file, &open.text, asked, range);
        let sure = reading.diagnostics.iter().flat_map(|finding| &finding.fixes);
        if sure.filter(|fix| fix.trust == Trust::Sure).count() > 0 {
            let source = Source::File(uri::path(&open.uri));
            let fixed =
                front::fix(&source, &open.text.content, self.options, |_, fix| fix.trust == Trust::Sure);
            found.extend(fixed.ok().map(|fixed| actions::fix_all(asked, &open.text, fixed.text)));
        }
        found
    }

    /// Returns the id of an open file's text among the sources of its reading.
    fn file(open: &OpenDocument, reading: &Reading) -> Option<SourceId> {
        reading.sources.find(&Source::File(uri::path(&open.uri)).to_string())
    }

    fn format_document(&self, asked: &Uri) -> Option<Vec<TextEdit>> {
        let open = self.open.get(asked.as_str())?;
        let formatted = closc_topology::format(&open.text.content)?;
        let is_new = formatted != open.text.content;
        Some(is_new.then(|| TextEdit::new(open.text.full_range(), formatted)).into_iter().collect())
    }
}

/// Returns the file that is named in the parameters of a message.
fn file_of(params: &Value) -> Option<&str> {
    params["textDocument"]["uri"].as_str()
}

/// Returns the last change of each file, as an index into `messages`.
fn last_changes(messages: &[Message]) -> BTreeMap<String, usize> {
    let changes = messages.iter().enumerate().filter_map(|(at, message)| match message {
        Message::Notification(said) if said.method == DidChangeTextDocument::METHOD => {
            Some((file_of(&said.params)?.to_owned(), at))
        }
        _ => None,
    });
    changes.collect()
}

fn json(answer: &impl serde::Serialize) -> Value {
    serde_json::to_value(answer).unwrap_or_default()
}
