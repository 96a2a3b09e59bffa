//! The functions that the script of the page calls, and those that it has.
#![expect(unsafe_code, reason = "a script hands over places in memory")]

use std::panic;
use std::slice;

use partita::MemoryBudget;
use partita::extend::{Interface, speak_as};
use partita::files::disk;
use partita_app::{limit_memory, set_clock};
use serde_json::{Value, json};

use crate::observer::Message;
use crate::request::answer;

/// Addresses have 32 bits, and half of them is what most browsers give.
const MEMORY: u64 = 2 << 30;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Hears a message in JSON and the bytes that belong to it.
    fn tell(message: *const u8, length: usize, content: *const u8, size: usize);
    /// Seconds since 1970.
    safe fn seconds() -> f64;
}

fn say(message: &Value, content: &[u8]) {
    let text = message.to_string();
    // SAFETY: the script copies both before it returns.
    unsafe { tell(text.as_ptr(), text.len(), content.as_ptr(), content.len()) }
}

/// Called once before all others.
#[unsafe(no_mangle)]
extern "C" fn begin() {
    speak_as(Interface::Page);
    set_clock(|| seconds());
    limit_memory(MemoryBudget::new(MEMORY));
    panic::set_hook(Box::new(|defect| {
        let text = format!("this is a defect of partita, please report it: {defect}");
        say(&json!({ "is": "error", "text": text }), &[]);
    }));
}

/// Room for so many bytes, which the script fills and hands back by [`put`] or [`ask`].
#[unsafe(no_mangle)]
extern "C" fn room(length: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; length].into_boxed_slice()).cast()
}

/// What the script has filled.
///
/// # Safety
/// It is a room of this length that was not handed back.
unsafe fn filled(at: *mut u8, length: usize) -> Vec<u8> {
    // SAFETY: `room` has made a box of it, and nobody else has it.
    let content = unsafe { Box::from_raw(slice::from_raw_parts_mut(at, length)) };
    content.into_vec()
}

/// A file under its name.
///
/// # Safety
/// Both are rooms of these lengths.
#[unsafe(no_mangle)]
unsafe extern "C" fn put(name: *mut u8, length: usize, content: *mut u8, size: usize) {
    // SAFETY: as the caller promises.
    let (name, content) = unsafe { (filled(name, length), filled(content, size)) };
    let name = String::from_utf8_lossy(&name);
    // Files in memory refuse nothing.
    let _ = disk::write(name.as_ref(), content);
}

/// Does what a request asks for; the last message is the answer or an error.
///
/// # Safety
/// It is a room of this length.
#[unsafe(no_mangle)]
unsafe extern "C" fn ask(request: *mut u8, length: usize) {
    // SAFETY: as the caller promises.
    let request = unsafe { filled(request, length) };
    let told = |message: Message<'_>| {
        let content = match message {
            Message::File { content, .. } => content,
            _ => &[],
        };
        say(&json!(message), content);
    };
    match answer(&String::from_utf8_lossy(&request), &told) {
        Ok(value) => say(&json!({ "is": "answer", "value": value }), &[]),
        Err(error) => say(&json!({ "is": "error", "text": error.to_string() }), &[]),
    }
}
