//! Running other programs.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

/// A program and its arguments, between which there are spaces.
pub(crate) fn command(words: &str) -> Command {
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}

/// Runs a program with its output shown. An error names the command line.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = line(command);
    let status = command
        .status()
        .with_context(|| format!("cannot start `{line}`"))?;
    ensure!(status.success(), "`{line}` failed ({status})");
    Ok(())
}

/// What a program prints, shown line by line while it runs.
pub(crate) fn tee(command: &mut Command) -> Result<String> {
    let line = line(command);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{line}`"))?;
    let stdout = child.stdout.take().expect("it was asked for just now");
    let mut text = String::new();
    for said in BufReader::new(stdout).lines() {
        let said = said.with_context(|| format!("`{line}` printed something that is not text"))?;
        println!("{said}");
        text += &said;
        text.push('\n');
    }
    let status = child.wait()?;
    ensure!(status.success(), "`{line}` failed ({status})");
    Ok(text)
}

/// What a program prints. An error carries what it complained about.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let line = line(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{line}`"))?;
    ensure!(
        output.status.success(),
        "`{line}` failed ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{line}` printed something that is not text"))
}

/// Whether a program can be run with these arguments and succeeds.
pub(crate) fn works(words: &str) -> bool {
    output(&mut command(words)).is_ok()
}

/// A time to be read by people.
pub(crate) fn seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 60.0 {
        return format!("{seconds:.1} s");
    }
    let minutes = (seconds / 60.0).floor();
    format!("{minutes:.0} min {:02.0} s", seconds % 60.0)
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command_and_what_it_said() {
        let error = output(&mut command("git no-such-command")).unwrap_err();
        let error = error.to_string();
        assert!(
            error.starts_with("`git no-such-command` failed")
                && error.contains("no-such-command' is not"),
            "{error}"
        );
        let error = run(&mut command("partita-no-such-program")).unwrap_err();
        assert_eq!(error.to_string(), "cannot start `partita-no-such-program`");
    }

    #[test]
    fn what_is_shown_is_kept() {
        let said = tee(&mut command("git --version")).unwrap();
        assert!(said.starts_with("git version"));
    }

    #[test]
    fn times_are_short() {
        assert_eq!(seconds(Duration::from_millis(1240)), "1.2 s");
        assert_eq!(seconds(Duration::from_secs(125)), "2 min 05 s");
    }
}
