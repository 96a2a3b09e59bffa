//! Public items without a word about them. The compiler refuses them too; saying it here takes no build.

use super::Violation;
use super::source::Source;

const ITEMS: &[&str] = &["fn", "struct", "enum", "trait", "type", "const", "static", "union"];

/// Complaints about undocumented public items outside tests, and about globs that make items public.
pub(super) fn check(source: &Source) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut documented = false;
    let mut open_brackets = 0;
    for (line, code, test) in source.numbered() {
        let written = source.lines[line - 1].trim_start();
        let code = code.trim();
        let in_attribute = open_brackets > 0 || code.starts_with("#[");
        if in_attribute {
            open_brackets += code.matches('[').count();
            open_brackets = open_brackets.saturating_sub(code.matches(']').count());
            documented |= written.starts_with("#[doc");
        } else if written.starts_with("///") || written.starts_with("/**") {
            documented = true;
        } else {
            if !test && let Some(what) = complaint(code, documented) {
                violations.push(Violation::new(&source.file, line, what));
            }
            // What lies inside a block comment is blank and says nothing about what follows it.
            documented &= code.is_empty() && !written.is_empty();
        }
    }
    violations
}

fn complaint(code: &str, documented: bool) -> Option<String> {
    // What a macro names is looked at by the compiler, where the macro is used.
    let rest = code.strip_prefix("pub ").filter(|rest| !rest.contains('$'))?;
    if rest.starts_with("use ") && rest.contains("::*") {
        return Some("a glob hides what is public; name what is re-exported".into());
    }
    let mut words = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    let item = words.by_ref().find(|word| !["unsafe", "async", "extern"].contains(word))?;
    // `const fn` is a function.
    let name = words.find(|word| !ITEMS.contains(word) && *word != "unsafe")?;
    let undocumented = ITEMS.contains(&item) && !documented;
    undocumented.then(|| format!("`{name}` is public and undocumented; say what it is in a `///` comment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&Source::new("crates/x/src/lib.rs", text)).iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn undocumented_public_items_are_found() {
        let text = "/// Said.\npub fn a() {}\npub fn b() {}\n    pub const fn c() {}\npub(crate) fn d() {}\npub use x::*;\npub static $name: $type = $type;\n";
        assert_eq!(lines(text), [3, 4, 6]);
    }

    #[test]
    fn attributes_may_stand_between_the_words_and_the_item() {
        let text =
            "/// Said.\n#[derive(\n    Clone,\n)]\n#[must_use]\npub struct A;\n#[derive(Clone)]\npub struct B;\n";
        assert_eq!(lines(text), [8]);
        assert_eq!(lines("/** Said\nat length. */\npub struct A;\n\npub struct B;\n"), [5]);
        assert_eq!(
            lines("#[doc = \"Said.\"]\npub struct A;\n#[cfg(test)]\nmod tests {\n    pub fn b() {}\n}\n"),
            [0usize; 0]
        );
    }
}
