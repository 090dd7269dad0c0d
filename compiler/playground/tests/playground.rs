//! The playground: answers are the same as on the command line, and the page works in a browser.

#[path = "playground/answers.rs"]
mod answers;
#[path = "playground/page.rs"]
mod page;
#[path = "playground/texts.rs"]
mod texts;
