package dev.podcache.yaml;

/**
 * A text is not YAML, or is beyond a limit. The message says what is wrong, and where; it never quotes the text, which may
 * be secret. It has no cause, because the parser's own exceptions quote.
 */
public final class YamlException extends IllegalArgumentException {

    private static final long serialVersionUID = 1;

    private final int line;
    private final int column;

    YamlException(int line, int column, String problem) {
        super("line " + line + ", column " + column + ": " + problem);
        this.line = line;
        this.column = column;
    }

    /** Returns the line, from 1. */
    public int line() {
        return line;
    }

    /** Returns the column, from 1. */
    public int column() {
        return column;
    }
}
