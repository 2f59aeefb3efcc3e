package dev.podcache.yaml;

import java.util.function.Supplier;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.ScannerException;
import org.snakeyaml.engine.v2.scanner.Scanner;
import org.snakeyaml.engine.v2.scanner.ScannerImpl;
import org.snakeyaml.engine.v2.scanner.StreamReader;
import org.snakeyaml.engine.v2.tokens.Token;

/**
 * Cuts a text into tokens, and takes a tab between two of them for white space, as libyaml and go-yaml do. The scanner
 * below refuses every tab at which a token could begin. A tab that indents stays refused: at the beginning of a line, and
 * after the {@code -} of a list or the {@code ?} of a field.
 */
final class TabScanner implements Scanner {

    private static final String NEXT_TOKEN = "while scanning for the next token";

    private final StreamReader reader;
    private final Scanner scanner;
    private final int[] text; // code points; the reader knows only those around its position

    TabScanner(LoadSettings settings, String text) {
        this.text = text.codePoints().toArray();
        this.reader = new StreamReader(settings, text);
        this.scanner = new ScannerImpl(settings, reader);
    }

    @Override
    public boolean checkToken(Token.ID... choices) {
        return pastTabs(() -> scanner.checkToken(choices));
    }

    @Override
    public Token peekToken() {
        return pastTabs(scanner::peekToken);
    }

    @Override
    public boolean hasNext() {
        return pastTabs(scanner::hasNext);
    }

    @Override
    public Token next() {
        return pastTabs(scanner::next);
    }

    @Override
    public void resetDocumentIndex() {
        scanner.resetDocumentIndex();
    }

    /** The scanner stands at the character that it refuses, and has taken nothing of it: it can go on behind it. */
    private <T> T pastTabs(Supplier<T> step) {
        while (true) {
            try {
                return step.get();
            } catch (ScannerException e) {
                if (!NEXT_TOKEN.equals(e.getContext()) || reader.peek() != '\t' || indents()) {
                    throw e;
                }
                // all of them at once: an exception for each takes long
                while (isBlank(reader.peek())) {
                    reader.forward();
                }
            }
        }
    }

    /** Returns whether nothing but indicators of indentation precedes the reader in its line. */
    private boolean indents() {
        int at = reader.getIndex() - 1;
        while (at >= 0 && isBlank(text[at])) {
            at--;
        }
        if (at < 0 || isBreak(text[at])) {
            return true;
        }
        boolean indicator = text[at] == '-' || text[at] == '?' || text[at] == ':';
        boolean alone = at == 0 || isBlank(text[at - 1]) || isBreak(text[at - 1]);
        return indicator && alone;
    }

    private static boolean isBlank(int character) {
        return character == ' ' || character == '\t';
    }

    private static boolean isBreak(int character) {
        return character == '\n' || character == '\r';
    }
}
