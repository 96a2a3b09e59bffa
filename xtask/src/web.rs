//! `web`: one page that clusters in a browser, `target/web/partita.html`: the program compiled to WebAssembly, packed into the page.

use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::shell;
use crate::tools::{CHROMIUM, NODE};
use crate::workspace::Workspace;

const TARGET: &str = "wasm32-unknown-unknown";

/// Where the parts of the page lie.
const PARTS: &str = "crates/doors/web/page";

/// Bytes that the page may have.
const MOST: usize = 4_000_000;

/// How often the packed form of the program is improved: more gain next to nothing.
const ITERATIONS: NonZeroU64 = NonZeroU64::new(3).expect("3 is not 0");

/// Where a package that Debian builds browsers with puts its programs and libraries.
const BIN: &str = "usr/bin";
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

/// Labels of four tools, beside two tables of `datasets`.
const TOOLS: &str = "cell,seurat,sc3,cola,leiden\nc1,T,1,0,a\nc2,T,1,0,a\nc3,T,1,,a\nc4,B,2,1,b\nc5,B,2,1,b\nc6,B,2,0,b\n\
    c7,NK,3,2,c\nc8,NK,2,2,c\nc9,NK,3,2,\nc10,M,4,3,d\nc11,M,4,3,d\nc12,M,4,3,c\n";

/// Builds the page.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let page = build(workspace)?;
    let size = fs::metadata(&page)?.len();
    println!("{}: {:.2} MB", workspace.show(&page), size as f64 / 1e6);
    Ok(())
}

/// As a step of `test`: the labels of the page's program are those of the command line, and the page works in a browser without network.
pub(crate) fn step(workspace: &Workspace) -> Result<()> {
    if !NODE.provided("the page")? || !CHROMIUM.provided("the page")? {
        return Ok(());
    }
    let binary = workspace.tested("partita")?;
    let page = build(workspace)?;
    let tools = workspace.path("crates/product/report/browser");
    shell::run(shell::command("npm ci --silent --no-audit --no-fund").current_dir(&tools))?;
    for check in ["equal.mjs", "browser.mjs"] {
        let mut node = shell::command("node");
        node.arg(workspace.path("crates/doors/web/check").join(check));
        shell::run(node.arg(&page).arg(&binary).current_dir(workspace.root()))?;
    }
    Ok(())
}

fn build(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target("web")?;
    fs::create_dir_all(&folder)?;
    let mut cargo = workspace.cargo(&format!(
        "rustc -p partita-web --crate-type cdylib --profile web --target {TARGET}"
    ));
    // All browsers have both since 2023, and sums keep their order.
    let flags = "-Ctarget-feature=+simd128,+bulk-memory";
    cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", flags);
    let built = folder.join("build");
    cargo.arg("--target-dir").arg(&built);
    if !has_target(workspace)? {
        with_debian(&mut cargo, &folder)?;
    }
    shell::run(&mut cargo)?;
    let code = fs::read(built.join(format!("{TARGET}/web/partita_web.wasm")))?;
    let page = page(workspace, &code)?;
    let size = page.len();
    ensure!(
        size <= MOST,
        "the page has {size} bytes, more than {MOST}; leave a feature out"
    );
    let path = folder.join("partita.html");
    fs::write(&path, page)?;
    Ok(path)
}

/// Whether the toolchain has the target (`rustup target add wasm32-unknown-unknown`).
fn has_target(workspace: &Workspace) -> Result<bool> {
    let mut rustc = workspace.command(&format!("rustc --print target-libdir --target {TARGET}"));
    Ok(Path::new(shell::output(&mut rustc)?.trim()).is_dir())
}

/// Has cargo compile with the packages that Debian builds browsers with, unpacked into this folder: its compiler, and the source of the
/// standard library, which no package has compiled for the target.
fn with_debian(cargo: &mut Command, folder: &Path) -> Result<()> {
    let toolchain = folder.join("toolchain");
    if !toolchain.is_dir() {
        unpack(&folder.join("toolchain.part"))
            .context("there is no compiler for the page; run `rustup target add wasm32-unknown-unknown`, or be on Debian")?;
        fs::rename(folder.join("toolchain.part"), &toolchain)?;
    }
    let linker = fs::read_dir(toolchain.join(BIN))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.to_string_lossy().contains("/wasm-ld"));
    cargo
        .arg("-Zbuild-std=std,panic_abort")
        .env("RUSTC", toolchain.join(BIN).join("rustc"))
        .env("RUSTC_BOOTSTRAP", "1")
        .env("LD_LIBRARY_PATH", toolchain.join(LIBRARIES))
        .env(
            "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER",
            linker.context("the packages have no linker")?,
        );
    Ok(())
}

/// Downloads the packages, and unpacks them; no root is needed.
fn unpack(folder: &Path) -> Result<()> {
    // What was begun before.
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    let mut packages = vec!["rustc-web".to_owned(), "rust-web-src".to_owned()];
    let mut at = 0;
    while let Some(package) = packages.get(at) {
        let depends = shell::output(shell::command("apt-cache depends").arg(package))?;
        let names = depends
            .lines()
            .filter_map(|line| line.trim().strip_prefix("Depends: "));
        for name in names {
            let version = name.strip_prefix("libllvm").map(str::to_owned);
            let ours = name.starts_with("libstd-rust-web") || version.is_some();
            if ours && !packages.iter().any(|known| known == name) {
                packages.push(name.to_owned());
                packages.extend(version.map(|version| format!("lld-{version}")));
            }
        }
        at += 1;
    }
    println!("downloading {}", packages.join(", "));
    shell::run(
        shell::command("apt-get download -q")
            .args(&packages)
            .current_dir(folder),
    )?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "deb") {
            shell::run(shell::command("dpkg -x").arg(&path).arg(folder))?;
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// The page with the program in it.
fn page(workspace: &Workspace, code: &[u8]) -> Result<String> {
    let text = |name: &str| {
        let path = workspace.path(name);
        fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
    };
    let part = |name: &str| text(&format!("{PARTS}/{name}"));
    let mut packed = Vec::new();
    let options = zopfli::Options {
        iteration_count: ITERATIONS,
        ..zopfli::Options::default()
    };
    zopfli::compress(options, zopfli::Format::Deflate, code, &mut packed)?;
    let script = part("script.js")?;
    let of_reports = text("crates/product/report/src/templates/script.js")?;
    let sample = |name: &str| {
        Ok::<_, anyhow::Error>(json!({ "name": name, "text": text(&format!("datasets/{name}"))? }))
    };
    let samples = json!({
        "iris": sample("iris.csv")?,
        "wine": sample("wine.csv")?,
        "tools": { "name": "labels_of_four_tools.csv", "text": TOOLS },
    });
    let version = workspace
        .metadata()?
        .packages
        .into_iter()
        .find(|package| package.name == "partita-web");
    let parts = [
        ("own", hash(&script)),
        // A frame keeps to the rules of the page around it: the script of reports, with the line ends that their template has.
        ("report", hash(&format!("\n{}\n", of_reports.trim_end()))),
        ("style", part("style.css")?),
        (
            "version",
            version.map_or_else(String::new, |package| package.version),
        ),
        ("engine", part("engine.js")?),
        ("worker", part("worker.js")?),
        ("samples", samples.to_string()),
        ("script", script),
        ("code", base85(&packed)),
    ];
    let mut page = part("page.html")?;
    for (name, content) in parts {
        page = page.replacen(&format!("{{{{{name}}}}}"), &content, 1);
    }
    Ok(page)
}

/// Bytes as letters that HTML keeps as they are, five for four of them, and one more for each byte that is missing at the end: a sixteenth
/// less than base 64 takes.
fn base85(bytes: &[u8]) -> String {
    let letters = bytes.chunks(4).flat_map(|chunk| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        let number = u32::from_be_bytes(word);
        let digits = [4, 3, 2, 1, 0].map(|place| (number / 85u32.pow(place) % 85) as u8);
        digits.map(|digit| match b'#' + digit {
            b'<' => 'x',
            letter => letter.into(),
        })
    });
    let missing = bytes.len().next_multiple_of(4) - bytes.len();
    letters.collect::<String>() + &"!".repeat(missing)
}

/// A script as a policy names it.
fn hash(script: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(script)))
}
