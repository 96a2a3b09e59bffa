//! The steps of a case: files are made and changed, commands run.

use super::edits::{first, mirrored, npy, rest, turned, unescaped, without};
use super::{expectations, parts, rows};
use crate::common::{Ended, Workplace, repository, three_groups};

pub(super) struct Session<'a> {
    place: &'a Workplace,
    /// How the last command ended.
    ended: Option<Ended>,
    /// Whether a line said so; where none does, it must end well.
    code_stated: bool,
}

impl<'a> Session<'a> {
    pub(super) fn new(place: &'a Workplace) -> Self {
        Self {
            place,
            ended: None,
            code_stated: true,
        }
    }

    /// How the last command ended, for those who look for a mistake.
    pub(super) fn said(&self) -> String {
        let Some(ended) = &self.ended else {
            return String::new();
        };
        let short = |text: &str| text.chars().take(2000).collect::<String>();
        let (stdout, stderr) = (short(&ended.stdout), short(&ended.stderr));
        format!(
            "  exit code {:?}\n  stdout: {stdout}\n  stderr: {stderr}",
            ended.code
        )
    }

    /// The last command ended well, unless a line said how it ends.
    pub(super) fn settled(&self) -> Result<(), String> {
        match self.ended.as_ref().and_then(|ended| ended.code) {
            Some(0) => Ok(()),
            _ if self.code_stated => Ok(()),
            code => Err(format!("the last command ended with {code:?}")),
        }
    }

    pub(super) fn step(&mut self, text: &str, content: &[String]) -> Result<(), String> {
        if let Some(command) = text.strip_prefix("$ ") {
            self.settled()?;
            return self.run(command);
        }
        let (head, argument) = text
            .split_once(": ")
            .unwrap_or((text.trim_end_matches(':'), ""));
        let words: Vec<&str> = head.split(' ').collect();
        match words[..] {
            ["refused" | "failed" | "usage" | "exit"] => self.ending(head, argument),
            ["files"] => {
                let mut expected: Vec<&str> = argument.split_whitespace().collect();
                expected.sort_unstable();
                expectations::same(
                    &self.place.files(),
                    &expected.iter().map(|&name| name.to_owned()).collect(),
                )
            }
            [target, "exists" | "absent"] => {
                expectations::same(&self.place.path(target).exists(), &(words[1] == "exists"))
            }
            [target, verb] if text.contains(':') && expectations::VERBS.contains(&verb) => {
                expectations::check(&|name| self.bytes(name), target, verb, argument)
            }
            _ => self.prepare(&words, argument, content),
        }
    }

    /// Runs `partita`, with `< FILE` as its standard input and its standard output kept in `> FILE`.
    fn run(&mut self, command: &str) -> Result<(), String> {
        let mut words = split(command);
        let input = redirected(&mut words, "<");
        let output = redirected(&mut words, ">");
        let variable = words
            .first()
            .and_then(|word| word.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let arguments = words
            .iter()
            .skip(usize::from(variable.is_some()))
            .map(String::as_str);
        let mut command = self.place.command(&arguments.collect::<Vec<_>>());
        command.envs(variable);
        let bytes = input.map_or(Ok(Vec::new()), |name| self.bytes(&name))?;
        let ended = Ended::fed(command, &bytes);
        if let Some(name) = output {
            self.place.file(&name, &ended.stdout);
        }
        self.ended = Some(ended);
        self.code_stated = false;
        Ok(())
    }

    /// How the last command must have ended.
    fn ending(&mut self, how: &str, argument: &str) -> Result<(), String> {
        self.code_stated = true;
        let ended = self.ended.as_ref().ok_or("there was no command")?;
        let fragments: Vec<String> = parts(argument)
            .iter()
            .map(|part| expectations::plain(part))
            .collect();
        let fragments: Vec<&str> = fragments.iter().map(String::as_str).collect();
        match how {
            "refused" => ended.one_error(2, &fragments),
            "failed" => ended.one_error(1, &fragments),
            "usage" => ended.error(2, &fragments),
            _ => expectations::same(&ended.code, &argument.parse().ok()),
        }
    }

    /// What is in a file, or what the last command said.
    fn bytes(&self, name: &str) -> Result<Vec<u8>, String> {
        match (name, &self.ended) {
            ("out", Some(ended)) => Ok(ended.stdout.clone().into_bytes()),
            ("err", Some(ended)) => Ok(ended.stderr.clone().into_bytes()),
            _ => std::fs::read(self.place.path(name)).map_err(|error| format!("{name}: {error}")),
        }
    }

    fn text(&self, name: &str) -> Result<String, String> {
        Ok(String::from_utf8_lossy(&self.bytes(name)?).into_owned())
    }

    /// Makes, changes or removes a file.
    fn prepare(&self, words: &[&str], argument: &str, content: &[String]) -> Result<(), String> {
        let (name, bytes) = match *words {
            ["file", name] if content.is_empty() => (name, unescaped(argument)),
            ["file", name] => (name, lines(content).into_bytes()),
            ["rows", name, count] => (name, rows::table(number(count)?, content)?.into_bytes()),
            ["groups", name, count] => (name, three_groups(number(count)?).into_bytes()),
            ["zeros", name, count] => (name, vec![0; number(count)?]),
            ["npy", name, descr, count] => (name, npy(descr, argument, &vec![1; number(count)?])),
            ["shipped", name] => (name, stored("datasets", name)?),
            ["data", name] => (name, stored("crates/input/files/tests/data", name)?),
            ["copy", from, name] => (name, self.bytes(from)?),
            ["join", name] => {
                let files = argument.split(' ').map(|file| self.bytes(file));
                (name, files.collect::<Result<Vec<_>, _>>()?.concat())
            }
            ["cut", from, name] => {
                let mut bytes = self.bytes(from)?;
                bytes.truncate(position(argument, bytes.len())?);
                (name, bytes)
            }
            ["flip", name] => {
                let mut bytes = self.bytes(name)?;
                let at = position(argument, bytes.len())?;
                bytes[at] ^= 1;
                (name, bytes)
            }
            ["turn", name] => (name, turned(&self.text(name)?).into_bytes()),
            ["mirror", from, name] => (name, mirrored(&self.text(from)?).into_bytes()),
            ["first", count, from, name] => {
                (name, first(&self.text(from)?, number(count)?).into_bytes())
            }
            ["rest", count, from, name] => {
                (name, rest(&self.text(from)?, number(count)?).into_bytes())
            }
            ["delete", name] => (
                name,
                without(&self.text(name)?, &parts(argument)).into_bytes(),
            ),
            ["replace", name] => (name, self.replaced(name, argument)?.into_bytes()),
            ["shell"] => {
                let ended = self.place.shell(argument);
                return expectations::same(&(ended.code, ended.stderr), &(Some(0), String::new()));
            }
            ["folder", name] => {
                return std::fs::create_dir(self.place.path(name))
                    .map_err(|error| error.to_string());
            }
            ["remove", name] => {
                return std::fs::remove_file(self.place.path(name))
                    .map_err(|error| error.to_string());
            }
            _ => return Err("this is not a step: see tests/cases/README.md".into()),
        };
        std::fs::write(self.place.path(name), bytes).map_err(|error| format!("{name}: {error}"))
    }

    fn replaced(&self, name: &str, argument: &str) -> Result<String, String> {
        let (old, new) = argument.split_once(" => ").ok_or("old => new")?;
        let text = self.text(name)?;
        let old = expectations::plain(old);
        if !text.contains(&old) {
            return Err(format!("'{old}' is not in {name}"));
        }
        // Bytes that are not text may be put in, so they are joined as bytes are.
        Ok(text.replace(&old, &expectations::plain(new)))
    }
}

fn lines(content: &[String]) -> String {
    let plain = content
        .iter()
        .map(|line| line.strip_prefix(' ').unwrap_or(line));
    plain.map(|line| line.to_owned() + "\n").collect()
}

fn stored(folder: &str, name: &str) -> Result<Vec<u8>, String> {
    let path = repository(folder).join(name);
    std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
}

fn number(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| format!("'{text}' is not a number"))
}

/// A place among so many bytes: `10` from the start, `-10` from the end, or `half`.
fn position(text: &str, length: usize) -> Result<usize, String> {
    match text.strip_prefix('-') {
        Some(from_end) => Ok(length - number(from_end)?),
        None if text == "half" => Ok(length / 2),
        None => number(text),
    }
}

/// Takes out a sign and the name that follows it.
fn redirected(words: &mut Vec<String>, sign: &str) -> Option<String> {
    let at = words.iter().position(|word| word == sign)?;
    words.remove(at);
    Some(words.remove(at))
}

/// The words of a command; quotes keep blanks.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in text.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            None if matches!(letter, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter == ' ' => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}
