//! Clang's options, as far as Loomir needs them: which have their value in a second word, and what
//! each means for the steps of a compilation.
//!
//! An option that is not in these tables has one word and goes to every step.

/// The meaning of an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// The output file.
    Output,
    /// The language of the inputs behind it.
    Language,
    /// The level of optimisation.
    Level,
    /// `-c`: stop with objects.
    Compile,
    /// `-S`: stop with assembly.
    Assembly,
    /// Writes dependencies beside the output.
    Dependencies,
    /// The file that dependencies are written to.
    DependencyFile,
    /// The target that dependencies are of.
    DependencyTarget,
    /// Some other option about dependencies.
    AboutDependencies,
    /// Only the linker reads it.
    Linker,
    /// Only the assembler reads it.
    Assembler,
    /// Only the preprocessor and the compiler proper read it.
    FrontEnd,
    /// Says in what colors diagnostics are printed.
    Color,
    /// Loomir reports on each file.
    Report,
    /// Loomir writes a page on each file.
    Page,
    /// Loomir optimises loops, and does not only fuse them.
    Optimize,
    /// The machine that costs are estimated for.
    Machine,
    /// The command is left to clang, for this reason.
    Clang(&'static str),
    /// Any other option.
    Other,
}

impl Role {
    /// True if the option is Loomir's own, which clang does not know.
    pub(super) fn is_own(self) -> bool {
        matches!(self, Role::Report | Role::Page | Role::Optimize | Role::Machine)
    }
}

/// Options whose value is the next word.
const SEPARATE: [(&str, Role); 76] = [
    ("-o", Role::Output),
    ("--output", Role::Output),
    ("-x", Role::Language),
    ("--language", Role::Language),
    ("-MF", Role::DependencyFile),
    ("-MT", Role::DependencyTarget),
    ("-MQ", Role::DependencyTarget),
    ("-MJ", DATABASE),
    ("-I", Role::FrontEnd),
    ("-D", Role::FrontEnd),
    ("-U", Role::FrontEnd),
    ("-F", Role::FrontEnd),
    ("--include-directory", Role::FrontEnd),
    ("--define-macro", Role::FrontEnd),
    ("--undefine-macro", Role::FrontEnd),
    ("-include", Role::FrontEnd),
    ("--include", Role::FrontEnd),
    ("-imacros", Role::FrontEnd),
    ("-include-pch", PRECOMPILED),
    ("-isystem", Role::FrontEnd),
    ("-isystem-after", Role::FrontEnd),
    ("-iquote", Role::FrontEnd),
    ("-idirafter", Role::FrontEnd),
    ("-iprefix", Role::FrontEnd),
    ("-iwithprefix", Role::FrontEnd),
    ("-iwithprefixbefore", Role::FrontEnd),
    ("-iwithsysroot", Role::FrontEnd),
    ("-isysroot", Role::FrontEnd),
    ("-iframework", Role::FrontEnd),
    ("-iframeworkwithsysroot", Role::FrontEnd),
    ("-ivfsoverlay", Role::FrontEnd),
    ("-imultilib", Role::FrontEnd),
    ("-Xpreprocessor", Role::FrontEnd),
    ("-Xclang", Role::Clang("-Xclang")),
    ("-Xanalyzer", ANALYSIS),
    ("-Xassembler", Role::Assembler),
    ("-Xlinker", Role::Linker),
    ("-L", Role::Linker),
    ("--library-directory", Role::Linker),
    ("-l", Role::Linker),
    ("-T", Role::Linker),
    ("-Tbss", Role::Linker),
    ("-Tdata", Role::Linker),
    ("-Ttext", Role::Linker),
    ("-u", Role::Linker),
    ("-z", Role::Linker),
    ("-e", Role::Linker),
    ("--entry", Role::Linker),
    ("-rpath", Role::Linker),
    ("-framework", Role::Linker),
    ("-weak_framework", Role::Linker),
    ("-weak_library", Role::Linker),
    ("-force_load", Role::Linker),
    ("-install_name", Role::Linker),
    ("-current_version", Role::Linker),
    ("-compatibility_version", Role::Linker),
    ("-undefined", Role::Linker),
    ("-exported_symbols_list", Role::Linker),
    ("-mllvm", Role::Other),
    ("-target", Role::Other),
    ("--target", Role::Other),
    ("-arch", Role::Clang("several architectures")),
    ("-A", Role::FrontEnd),
    ("-B", Role::Other),
    ("-G", Role::Other),
    ("--param", Role::Other),
    ("--sysroot", Role::Other),
    ("-gcc-toolchain", Role::Other),
    ("-resource-dir", Role::Other),
    ("-working-directory", Role::Clang("another working directory")),
    ("-serialize-diagnostics", Role::Clang("diagnostics in a file")),
    ("--serialize-diagnostics", Role::Clang("diagnostics in a file")),
    ("-index-store-path", Role::Clang("an index")),
    ("-dumpdir", Role::Clang("files beside the output")),
    ("--config", Role::Clang("a configuration file")),
    ("-aux-info", Role::Clang("files beside the output")),
];

const DATABASE: Role = Role::Clang("a database of commands");
const PRECOMPILED: Role = Role::Clang("precompiled headers");
const ANALYSIS: Role = Role::Clang("static analysis");
const MEASURED: Role = Role::Clang("measured or sanitized code");
const NO_OBJECT: Role = Role::Clang("no object is made");
const COMMAND: Role = Role::Clang("the object names its command");
const BESIDE: Role = Role::Clang("files beside the output");

/// Options of one word.
const ALONE: [(&str, Role); 31] = [
    ("-c", Role::Compile),
    ("--compile", Role::Compile),
    ("-S", Role::Assembly),
    ("--assemble", Role::Assembly),
    ("-MD", Role::Dependencies),
    ("-MMD", Role::Dependencies),
    ("--write-dependencies", Role::Dependencies),
    ("--write-user-dependencies", Role::Dependencies),
    ("-MP", Role::AboutDependencies),
    ("-MG", Role::AboutDependencies),
    ("-MV", Role::AboutDependencies),
    ("-E", NO_OBJECT),
    ("--preprocess", NO_OBJECT),
    ("-M", NO_OBJECT),
    ("-MM", NO_OBJECT),
    ("--dependencies", NO_OBJECT),
    ("--user-dependencies", NO_OBJECT),
    ("-fsyntax-only", NO_OBJECT),
    ("-###", NO_OBJECT),
    ("-v", Role::Clang("its commands are printed")),
    ("--verbose", Role::Clang("its commands are printed")),
    ("-pg", MEASURED),
    ("-p", MEASURED),
    ("--coverage", MEASURED),
    ("-ftest-coverage", MEASURED),
    ("-emit-llvm", Role::Clang("LLVM IR is asked for")),
    ("-emit-ast", NO_OBJECT),
    ("--loomir-optimize", Role::Optimize),
    ("--loomir-report", Role::Report),
    ("-Rpass-missed=loomir", Role::Report),
    ("--", Role::Clang("files behind '--'")),
];

/// Options by their first characters. The value is in the same word.
const JOINED: [(&str, Role); 56] = [
    ("--report=", Role::Page),
    ("--loomir-machine=", Role::Machine),
    ("-o", Role::Output),
    ("-object-file-name=", Role::Other),
    ("--output=", Role::Output),
    ("-x", Role::Language),
    ("--language=", Role::Language),
    ("-O", Role::Level),
    ("-MF", Role::DependencyFile),
    ("-MT", Role::DependencyTarget),
    ("-MQ", Role::DependencyTarget),
    ("-MJ", DATABASE),
    ("-Wl,", Role::Linker),
    ("-L", Role::Linker),
    ("-l", Role::Linker),
    ("-Wa,", Role::Assembler),
    ("-I", Role::FrontEnd),
    ("-D", Role::FrontEnd),
    ("-U", Role::FrontEnd),
    ("-flto", Role::Clang("link-time optimisation")),
    ("-fthin", Role::Clang("link-time optimisation")),
    ("-fsanitize", MEASURED),
    ("-fprofile", MEASURED),
    ("-fcs-profile", MEASURED),
    ("-fauto-profile", MEASURED),
    ("-fcoverage", MEASURED),
    ("-fmemory-profile", MEASURED),
    ("-finstrument", MEASURED),
    ("-fxray", MEASURED),
    ("-fpch", PRECOMPILED),
    ("-emit-pch", PRECOMPILED),
    ("-fmodule", Role::Clang("modules")),
    ("--precompile", PRECOMPILED),
    ("--analy", ANALYSIS),
    ("-save-temps", BESIDE),
    ("--save-temps", BESIDE),
    ("-save-stats", BESIDE),
    ("--save-stats", BESIDE),
    ("-gsplit-dwarf", BESIDE),
    ("-fstack-usage", BESIDE),
    ("-ftime-", BESIDE),
    ("-fsave-optimization-record", BESIDE),
    ("-foptimization-record", BESIDE),
    ("-fproc-stat-report", BESIDE),
    ("-fcrash-diagnostics", BESIDE),
    ("-R", Role::Clang("remarks of clang")),
    ("-fembed-bitcode", COMMAND),
    ("-grecord", COMMAND),
    ("-frecord-", COMMAND),
    ("-fplugin", Role::Clang("plugins")),
    ("-fpass-plugin", Role::Clang("plugins")),
    ("--driver-mode", Role::Clang("another mode of the driver")),
    ("--offload", Role::Clang("several targets")),
    ("-fcolor-diagnostics", Role::Color),
    ("-fno-color-diagnostics", Role::Color),
    ("-fdiagnostics-color", Role::Color),
];

/// Returns the role of an option, and true if its value is the next word. A dash alone is the
/// standard input, and no option.
pub(super) fn role(word: &str) -> (Role, bool) {
    if let Some((_, role)) = ALONE.iter().find(|(name, _)| *name == word) {
        return (*role, false);
    }
    if let Some((_, role)) = SEPARATE.iter().find(|(name, _)| *name == word) {
        return (*role, true);
    }
    // `-Xarch_x86_64 OPTION` and the like.
    if word.starts_with("-Xarch_") || word.starts_with("-Xopenmp-target") || word.starts_with("-Xcuda-") {
        return (Role::Clang("several targets"), true);
    }
    if let Some(passed) = word.strip_prefix("-Wp,") {
        return (of_preprocessor(passed), false);
    }
    let joined = JOINED.iter().filter(|(name, _)| word.starts_with(name)).max_by_key(|(name, _)| name.len());
    (joined.map_or(Role::Other, |(_, role)| *role), false)
}

/// Returns the role of words that are passed on to the preprocessor. Of those about dependencies, a
/// file alone is known here.
fn of_preprocessor(words: &str) -> Role {
    let words: Vec<&str> = words.split(',').collect();
    match words[..] {
        ["-MD" | "-MMD", file] if !file.starts_with('-') => Role::FrontEnd,
        _ if words.iter().any(|own| own.starts_with("-M")) => Role::Clang("dependencies by the preprocessor"),
        _ => Role::FrontEnd,
    }
}
