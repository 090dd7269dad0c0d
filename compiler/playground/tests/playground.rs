//! The playground: answers as the command line gives them, and the page in a browser.

#[path = "playground/answers.rs"]
mod answers;
#[path = "playground/page.rs"]
mod page;
#[path = "playground/texts.rs"]
mod texts;
