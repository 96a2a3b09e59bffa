//! `release`: what people install, built and packed into `target/dist`, then installed where nothing else is and tried there.

mod third_party;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use sha2::{Digest, Sha256};

use crate::tools::R;
use crate::workspace::Workspace;
use crate::{demo, python, r, shell};

/// What builds for the systems of other people: zig is the C compiler and linker that has the libraries of old systems. maturin has this version
/// of cargo-zigbuild inside; with another one cargo compiles everything again for the archive.
const TOOLS: &str = "maturin==1.16.0 cargo-zigbuild==0.24.0 ziglang==0.17.1 wheel==0.48.0";

/// The crates of ours that wheel and archive are built of.
const BUILT: [&str; 2] = ["partita-cli", "partita-python"];

/// The licences of what is compiled in, as a file.
const THIRD_PARTY: &str = "THIRD-PARTY.txt";

/// The C library that a program for Linux needs at least: that of Debian 10, Ubuntu 18.10 and Red Hat 8.
const GLIBC: (u32, u32) = (2, 28);

/// What is made, in the order of the table.
const ALL: [What; 4] = [What::Wheel, What::Sdist, What::Binary, What::R];

/// Flags of `cargo xtask release`.
#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(value_enum)]
    what: What,
    /// The system to build for, such as x86_64-unknown-linux-musl; this one if not given. What cannot run here is built and not tried.
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// With checksums: fail unless this is v and the version, as a tag must be.
    #[arg(long)]
    tag: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// The Python package with the command line inside.
    Wheel,
    /// The source distribution of the Python package.
    Sdist,
    /// The command line with manual pages and completions, as an archive.
    Binary,
    /// The R package with the Rust sources that it is built of.
    R,
    /// All of these for this system, and a table of them.
    All,
    /// SHA256SUMS of what lies in target/dist, wherever it was built.
    Checksums,
}

/// One release for one system.
pub(crate) struct Release<'a> {
    workspace: &'a Workspace,
    /// The system it is for, and whether that is this one.
    target: String,
    here: bool,
    /// An environment with [`TOOLS`].
    tools: PathBuf,
    dist: PathBuf,
}

/// Makes and tries what was asked for; says size and time of each.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let dist = workspace.target("dist")?;
    if arguments.what == What::Checksums {
        let tag = concat!("v", env!("CARGO_PKG_VERSION"));
        ensure!(
            arguments.tag.as_deref().is_none_or(|given| given == tag),
            "the tag must be {tag}; change it, or the version in Cargo.toml"
        );
        return checksums(workspace, &dist);
    }
    let release = Release::new(workspace, arguments.target.as_deref())?;
    let asked = match arguments.what {
        What::All => &ALL[..],
        ref one => std::slice::from_ref(one),
    };
    if arguments.what == What::All {
        python::emptied(&dist)?;
    }
    let mut table = format!("{:<58} {:>8}  time\n", "artefact", "MB");
    for what in asked {
        let start = Instant::now();
        let Some(file) = release.made(*what)? else {
            continue;
        };
        let name = file.file_name().unwrap_or_default().display().to_string();
        let size = fs::metadata(&file)?.len() as f64 / 1e6;
        let time = shell::seconds(start.elapsed());
        table += &format!("{name:<58} {size:>8.1}  {time}\n");
    }
    checksums(workspace, &dist)?;
    print!("{table}");
    Ok(())
}

impl<'a> Release<'a> {
    pub(crate) fn new(workspace: &'a Workspace, target: Option<&str>) -> Result<Self> {
        let rustc = shell::output(&mut shell::command("rustc -vV"))?;
        let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.context("`rustc -vV` names no host")?;
        let tools = workspace.target("release-tools")?;
        python::made(&tools, &python::python()?, TOOLS)?;
        Ok(Self {
            workspace,
            here: target.is_none_or(|target| target == host),
            target: target.unwrap_or(host).to_owned(),
            tools,
            dist: workspace.target("dist")?,
        })
    }

    /// Makes and tries one artefact; none where what it needs is not there.
    fn made(&self, what: What) -> Result<Option<PathBuf>> {
        fs::create_dir_all(&self.dist)?;
        let file = match what {
            What::Wheel => {
                let wheel = self.wheel(&self.dist)?;
                if self.here {
                    self.try_wheel(&wheel)?;
                }
                wheel
            }
            What::Sdist => self.sdist()?,
            What::Binary => self.binary()?,
            _ if !R.provided("the R package")? => return Ok(None),
            _ => r::source_package(self.workspace, &self.dist, false)?,
        };
        Ok(Some(file))
    }

    /// One of [`TOOLS`], which finds the others.
    fn tool(&self, name: &str, words: &str) -> Result<Command> {
        let mut command = python::program(&self.tools, name, words);
        let own = python::programs(&self.tools);
        let others = env::var_os("PATH").unwrap_or_default();
        let all = iter::once(own).chain(env::split_paths(&others));
        command.env("PATH", env::join_paths(all)?);
        // maturin has a cargo-zigbuild inside and would name itself as the linker: by one name for both, what the wheel has compiled serves
        // the archive.
        let linker = python::programs(&self.tools).join("cargo-zigbuild");
        command.env("CARGO_BIN_EXE_cargo-zigbuild", linker);
        Ok(command)
    }

    /// Whether zig compiles C and links, for an old Linux.
    fn with_zig(&self) -> bool {
        self.target.contains("-linux-")
    }

    /// The wheel: one for all versions of Python, which any Linux of its tag can load; maturin refuses one with libraries of this machine.
    pub(crate) fn wheel(&self, folder: &Path) -> Result<PathBuf> {
        let words = "build --quiet --auditwheel check --release --target";
        let mut maturin = self.tool("maturin", words)?;
        maturin.arg(&self.target);
        maturin.env("CARGO_ENCODED_RUSTFLAGS", self.without_paths()?);
        if self.with_zig() {
            let tag = if self.target.ends_with("musl") {
                "musllinux_1_2".to_owned()
            } else {
                format!("manylinux_{}_{}", GLIBC.0, GLIBC.1)
            };
            maturin.args(["--zig", "--compatibility", &tag]);
        }
        let wheel = python::built(self.workspace, maturin, "release-wheel")?;
        let to = folder.join(wheel.file_name().unwrap_or_default());
        self.complete(&wheel, folder)?;
        python::check_size(&to)?;
        Ok(to)
    }

    /// Packs the wheel again with the licences of what is compiled in, and without folders of this machine in the list of components.
    fn complete(&self, wheel: &Path, folder: &Path) -> Result<()> {
        let place = python::emptied(&self.workspace.target("release-unpacked")?)?;
        let mut unpack = self.tool("wheel", "unpack --dest")?;
        shell::run(unpack.arg(&place).arg(wheel).stdout(Stdio::null()))?;
        let unpacked = python::only_file(&place)?;
        let mut name = unpacked.file_name().unwrap_or_default().to_owned();
        name.push(".dist-info");
        let info = unpacked.join(name);
        fs::write(info.join("licenses").join(THIRD_PARTY), self.third_party()?)?;
        let about = info.join("METADATA");
        let ours = "License-File: LICENSE-MIT\n";
        let text = fs::read_to_string(&about)?;
        ensure!(text.contains(ours), "{} has no {ours}", about.display());
        let all = format!("{ours}License-File: {THIRD_PARTY}\n");
        fs::write(&about, text.replacen(ours, &all, 1))?;
        for entry in fs::read_dir(info.join("sboms"))? {
            let path = entry?.path();
            let root = self.workspace.root().display().to_string();
            fs::write(&path, fs::read_to_string(&path)?.replace(&root, "."))?;
        }
        self.names_no_folder(&unpacked)?;
        let mut pack = self.tool("wheel", "pack --dest-dir")?;
        shell::run(pack.arg(folder).arg(&unpacked).stdout(Stdio::null()))
    }

    /// The licences of what is compiled in.
    fn third_party(&self) -> Result<String> {
        let flags = format!("--locked --filter-platform {}", self.target);
        third_party::listing(&self.workspace.metadata_of(&flags)?, &BUILT)
    }

    /// Folders of this machine, and what stands for them in what is built: the last that fits counts.
    fn folders(&self) -> Result<[(PathBuf, &'static str); 3]> {
        let own = || env::home_dir().map(|home| home.join(".cargo"));
        let cargo = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(own);
        Ok([
            (self.workspace.root().to_owned(), "."),
            (self.workspace.target("")?, "target"),
            (cargo.context("there is no home folder")?, "cargo"),
        ])
    }

    /// Flags of the compiler that keep folders of this machine out of messages.
    fn without_paths(&self) -> Result<OsString> {
        let mut flags = env::var_os("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
        for (folder, name) in self.folders()? {
            // What separates flags in this variable.
            flags.push(if flags.is_empty() { "" } else { "\x1f" });
            flags.push("--remap-path-prefix=");
            flags.push(folder);
            flags.push(format!("={name}"));
        }
        Ok(flags)
    }

    /// Fails if a file, or one of a folder, has the name of a folder of this machine in it.
    fn names_no_folder(&self, path: &Path) -> Result<()> {
        if path.is_dir() {
            for entry in fs::read_dir(path)? {
                self.names_no_folder(&entry?.path())?;
            }
            return Ok(());
        }
        let bytes = fs::read(path)?;
        for (folder, _) in self.folders()? {
            let name = folder.as_os_str().as_encoded_bytes();
            let found = bytes.windows(name.len()).position(|part| part == name);
            let file = self.workspace.show(path);
            ensure!(found.is_none(), "{file} has {} in it", folder.display());
        }
        Ok(())
    }

    /// Installs the wheel with what it depends on into a new environment, and tries it on every version of Python that is there.
    fn try_wheel(&self, wheel: &Path) -> Result<()> {
        let environment = python::emptied(&self.workspace.target("release-environment")?)?;
        let file = wheel
            .to_str()
            .context("the path of the wheel is not text")?;
        python::made(&environment, &python::python()?, file)?;
        python::versions(self.workspace, wheel)
    }

    /// The source distribution, and a wheel of it that is tried: of the profile of the tests, which have compiled most of it.
    fn sdist(&self) -> Result<PathBuf> {
        let packed = python::packed(self.workspace, &self.tools)?;
        let wheel = python::wheel_of_source(self.workspace, &self.tools, &packed)?;
        python::versions(self.workspace, &wheel)?;
        let to = self.dist.join(packed.file_name().unwrap_or_default());
        fs::copy(&packed, &to)?;
        Ok(to)
    }

    /// The command line with its licences, manual pages and completions.
    fn binary(&self) -> Result<PathBuf> {
        let built = self.built()?;
        let name = format!("partita-{}-{}", env!("CARGO_PKG_VERSION"), self.target);
        let around = python::emptied(&self.workspace.target("release-binary")?)?;
        let folder = around.join(&name);
        fs::create_dir_all(folder.join("completions"))?;
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            fs::copy(self.workspace.path(file), folder.join(file))?;
        }
        fs::write(folder.join(THIRD_PARTY), self.third_party()?)?;
        let program = folder.join(built.file_name().unwrap_or_default());
        fs::copy(&built, &program)?;
        if self.can_run() {
            shell::run(
                Command::new(&program)
                    .args(["-q", "man", "-o"])
                    .arg(folder.join("man")),
            )?;
            for (shell, file) in [
                ("bash", "partita.bash"),
                ("zsh", "_partita"),
                ("fish", "partita.fish"),
                ("powershell", "_partita.ps1"),
            ] {
                let text = shell::output(Command::new(&program).args(["completions", shell]))?;
                fs::write(folder.join("completions").join(file), text)?;
            }
        }
        let archive = self.dist.join(format!("{name}.tar.gz"));
        let mut tar = Command::new("tar");
        tar.arg("-C").arg(&around).arg("-czf").arg(&archive);
        shell::run(tar.arg(&name))?;
        if self.can_run() {
            self.try_binary(&archive, &name)?;
        }
        Ok(archive)
    }

    /// Builds the command line of what the wheel has compiled: it asks for the same features of dependencies.
    fn built(&self) -> Result<PathBuf> {
        let [cli, python] = BUILT;
        let words =
            format!("build --release --package {cli} --package {python} --bin partita --target");
        let mut cargo = if self.with_zig() {
            let mut cargo = self.tool("cargo-zigbuild", "zigbuild")?;
            cargo.args(words.split_whitespace().skip(1));
            cargo.current_dir(self.workspace.root());
            cargo
        } else {
            self.workspace.cargo(&words)
        };
        cargo.env("CARGO_ENCODED_RUSTFLAGS", self.without_paths()?);
        if self.with_zig() && self.target.ends_with("gnu") {
            cargo.arg(format!("{}.{}.{}", self.target, GLIBC.0, GLIBC.1));
        } else {
            cargo.arg(&self.target);
        }
        shell::run(&mut cargo)?;
        let suffix = if self.target.contains("windows") {
            ".exe"
        } else {
            ""
        };
        let program = format!("{}/release/partita{suffix}", self.target);
        let program = self.workspace.target(&program)?;
        self.names_no_folder(&program)?;
        Ok(program)
    }

    /// Whether a program for the target runs here: one of musl needs nothing of the system.
    fn can_run(&self) -> bool {
        self.here
            || cfg!(target_os = "linux")
                && self.target == format!("{}-unknown-linux-musl", env::consts::ARCH)
    }

    /// Unpacks the archive elsewhere, and runs what is in it without any variable of this process.
    fn try_binary(&self, archive: &Path, name: &str) -> Result<()> {
        let place = python::emptied(&self.workspace.target("release-tried")?)?;
        shell::run(
            Command::new("tar")
                .arg("-C")
                .arg(&place)
                .arg("-xzf")
                .arg(archive),
        )?;
        let program = format!("partita{}", env::consts::EXE_SUFFIX);
        let page = place.join(name).join("man/partita-run.1");
        ensure!(page.is_file(), "{name} has no {}", page.display());
        demo::try_installed(self.workspace, &place.join(name).join(program), &place)
    }
}

/// Writes SHA256SUMS of all files of a folder, as `sha256sum -c` reads them.
fn checksums(workspace: &Workspace, dist: &Path) -> Result<()> {
    let sums = dist.join("SHA256SUMS");
    let mut lines = Vec::new();
    let entries = fs::read_dir(dist);
    for entry in entries.with_context(|| format!("there is no {}", workspace.show(dist)))? {
        let path = entry?.path();
        if path == sums || !path.is_file() {
            continue;
        }
        let sum = Sha256::digest(fs::read(&path)?);
        let hex: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
        let name = path.file_name().unwrap_or_default().display().to_string();
        lines.push(format!("{hex}  {name}\n"));
    }
    lines.sort_by(|one, other| one[64..].cmp(&other[64..]));
    fs::write(&sums, lines.concat())?;
    println!("{} files are in {}", lines.len() + 1, workspace.show(dist));
    Ok(())
}
