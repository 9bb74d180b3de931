//! What languages look like, as far as their colours need it.

/// The signs and words of a language.
#[derive(Debug)]
pub struct Language {
    /// The ends of its files' names, and its names in a block of code.
    names: &'static [&'static str],
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    /// Longer quotes come first.
    pub(super) quotes: &'static [&'static str],
    pub(super) keywords: &'static [&'static str],
    /// A word before `(` is a call, and one that begins with a capital letter is a type.
    pub(super) calls: bool,
    /// Words have dashes, and one before `:` is a key.
    pub(super) dashes: bool,
}

const C_COMMENT: Option<(&str, &str)> = Some(("/*", "*/"));

const LANGUAGES: [Language; 14] = [
    Language {
        names: &[
            "js", "mjs", "cjs", "jsx", "ts", "tsx", "mts", "cts", "javascript", "typescript",
            "vue", "svelte",
        ],
        line_comments: &["//"],
        block_comment: C_COMMENT,
        quotes: &["\"", "'", "`"],
        keywords: &[
            "abstract", "as", "async", "await", "break", "case", "catch", "class", "const",
            "continue", "debugger", "declare", "default", "delete", "do", "else", "enum", "export",
            "extends", "false", "finally", "for", "from", "function", "get", "if", "implements",
            "import", "in", "instanceof", "interface", "let", "new", "null", "of", "private",
            "protected", "public", "readonly", "return", "satisfies", "set", "static", "super",
            "switch", "this", "throw", "true", "try", "type", "typeof", "undefined", "var", "void",
            "while", "yield",
        ],
        calls: true,
        dashes: false,
    },
    Language {
        names: &["py", "pyi", "python"],
        line_comments: &["#"],
        block_comment: None,
        quotes: &["\"\"\"", "'''", "\"", "'"],
        keywords: &[
            "False", "None", "True", "and", "as", "assert", "async", "await", "break", "case",
            "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from",
            "global", "if", "import", "in", "is", "lambda", "match", "nonlocal", "not", "or",
            "pass", "raise", "return", "self", "try", "while", "with", "yield",
        ],
        calls: true,
        dashes: false,
    },
    Language {
        names: &["rs", "rust"],
        line_comments: &["//"],
        block_comment: C_COMMENT,
        // A lifetime begins with `'` too.
        quotes: &["\""],
        keywords: &[
            "Self", "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else",
            "enum", "extern", "false", "fn", "for", "if", "impl", "in", "let", "loop", "match",
            "mod", "move", "mut", "pub", "ref", "return", "self", "static", "struct", "super",
            "trait", "true", "type", "unsafe", "use", "where", "while",
        ],
        calls: true,
        dashes: false,
    },
    Language {
        names: &["go"],
        line_comments: &["//"],
        block_comment: C_COMMENT,
        quotes: &["\"", "`", "'"],
        keywords: &[
            "break", "case", "chan", "const", "continue", "default", "defer", "else",
            "fallthrough", "false", "for", "func", "go", "goto", "if", "import", "interface",
            "map", "nil", "package", "range", "return", "select", "struct", "switch", "true",
            "type", "var",
        ],
        calls: true,
        dashes: false,
    },
    Language {
        names: &[
            "c", "h", "cc", "cpp", "hpp", "cxx", "cs", "java", "kt", "kts", "swift", "scala",
            "dart", "php",
        ],
        line_comments: &["//"],
        block_comment: C_COMMENT,
        quotes: &["\"\"\"", "\"", "'"],
        keywords: &[
            "abstract", "as", "async", "auto", "await", "bool", "break", "case", "catch", "char",
            "class", "const", "constexpr", "continue", "data", "default", "delete", "do", "double",
            "else", "enum", "extends", "false", "final", "float", "for", "foreach", "fun", "func",
            "function", "guard", "if", "implements", "import", "in", "include", "int", "interface",
            "internal", "is", "let", "long", "namespace", "new", "nil", "null", "nullptr",
            "object", "override", "package", "private", "protected", "protocol", "public",
            "return", "sealed", "short", "signed", "static", "string", "struct", "super", "switch",
            "template", "this", "throw", "throws", "true", "try", "typedef", "typename",
            "unsigned", "using", "val", "var", "virtual", "void", "when", "where", "while",
        ],
        calls: true,
        dashes: false,
    },
    Language {
        names: &["rb", "ruby"],
        line_comments: &["#"],
        block_comment: None,
        quotes: &["\"", "'", "`"],
        keywords: &[
            "and", "begin", "break", "case", "class", "def", "do", "else", "elsif", "end",
            "ensure", "false", "for", "if", "in", "module", "next", "nil", "not", "or", "raise",
            "require", "rescue", "return", "self", "super", "then", "true", "unless", "until",
            "when", "while", "yield",
        ],
        calls: true,
        dashes: false,
    },
    Language {
        names: &["sh", "bash", "zsh", "shell", "console"],
        line_comments: &["# ", "#!"],
        block_comment: None,
        quotes: &["\"", "'"],
        keywords: &[
            "case", "cd", "do", "done", "echo", "elif", "else", "esac", "exit", "export", "fi",
            "for", "function", "if", "in", "local", "return", "set", "source", "then", "until",
            "while",
        ],
        calls: false,
        dashes: false,
    },
    Language {
        names: &["json", "jsonc", "json5", "jsonl"],
        line_comments: &["//"],
        block_comment: C_COMMENT,
        quotes: &["\""],
        keywords: &["true", "false", "null"],
        calls: false,
        dashes: false,
    },
    Language {
        names: &["yaml", "yml"],
        line_comments: &["# "],
        block_comment: None,
        quotes: &["\"", "'"],
        keywords: &["true", "false", "null", "yes", "no"],
        calls: false,
        dashes: true,
    },
    Language {
        names: &["toml", "ini", "cfg"],
        line_comments: &["#", ";"],
        block_comment: None,
        quotes: &["\"\"\"", "\"", "'"],
        keywords: &["true", "false"],
        calls: false,
        dashes: false,
    },
    Language {
        names: &["css", "scss", "less"],
        line_comments: &[],
        block_comment: C_COMMENT,
        quotes: &["\"", "'"],
        keywords: &["@media", "@import", "@supports", "@keyframes", "important"],
        calls: false,
        dashes: true,
    },
    Language {
        names: &["html", "htm", "xml", "svg"],
        line_comments: &[],
        block_comment: Some(("<!--", "-->")),
        quotes: &["\""],
        keywords: &[],
        calls: false,
        dashes: false,
    },
    Language {
        names: &["sql"],
        line_comments: &["--"],
        block_comment: C_COMMENT,
        quotes: &["'", "\""],
        keywords: &[
            "ALTER", "AND", "AS", "BY", "CREATE", "DELETE", "DROP", "FROM", "GROUP", "INSERT",
            "INTO", "JOIN", "LEFT", "LIMIT", "NOT", "NULL", "ON", "OR", "ORDER", "SELECT", "SET",
            "TABLE", "UPDATE", "VALUES", "WHERE", "and", "as", "by", "create", "delete", "drop",
            "from", "group", "insert", "into", "join", "limit", "not", "null", "on", "or", "order",
            "select", "set", "table", "update", "values", "where",
        ],
        calls: false,
        dashes: false,
    },
    Language {
        names: &["diff", "patch"],
        line_comments: &[],
        block_comment: None,
        quotes: &[],
        keywords: &[],
        calls: false,
        dashes: false,
    },
];

impl Language {
    /// Returns the language of a block of code, by the word at its beginning.
    pub fn named(word: &str) -> Option<&'static Language> {
        let word = word.split([' ', ',', '{']).next()?.to_lowercase();
        LANGUAGES
            .iter()
            .find(|language| language.names.contains(&word.as_str()))
    }

    /// Returns the language of a file, by the end of its name.
    pub fn of_file(path: &str) -> Option<&'static Language> {
        let (_, end) = path.rsplit_once('.')?;
        Language::named(end)
    }
}
