package dev.podcache.documentation;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One simple command of a shell script: its words, without quotes, assignments and redirections. Knows as much of the
 * shell's grammar as the documentation uses: pipes, quotes, here-documents and {@code $(...)}.
 */
record ShellCommand(List<String> words) {

    private static final Pattern HERE_DOCUMENT = Pattern.compile("(?ms)^(.*)<<(\\w+)$\\n(.*?)^\\2$");
    private static final Pattern SUBSTITUTION = Pattern.compile("\\$\\(([^()]*)\\)");
    private static final Pattern WORD = Pattern.compile("(?:\"[^\"]*\"|'[^']*'|[^\\s\"'|>])+|\\||>|\\n");
    private static final Pattern ASSIGNMENT = Pattern.compile("\\w+=.*");

    /** Returns the commands of a script, those in {@code $(...)} first. */
    static List<ShellCommand> parse(String script) {
        String rest = HERE_DOCUMENT.matcher(script).replaceAll("$1 $3");
        List<ShellCommand> commands = new ArrayList<>();
        Matcher inner = SUBSTITUTION.matcher(rest);
        while (inner.find()) {
            commands.addAll(parse(inner.group(1)));
        }
        String plain = HERE_DOCUMENT.matcher(script).replaceAll("$1").replace("\\\n", " ");
        split(SUBSTITUTION.matcher(plain).replaceAll("substituted"), commands);
        return commands;
    }

    private static void split(String script, List<ShellCommand> commands) {
        List<String> words = new ArrayList<>();
        boolean redirected = false;
        for (String word : WORD.matcher(script + "\n")
                .results()
                .map(found -> found.group())
                .toList()) {
            if (word.equals("|") || word.equals("\n")) {
                if (!words.isEmpty()) {
                    commands.add(new ShellCommand(List.copyOf(words)));
                }
                words.clear();
            } else if (word.equals(">")) {
                redirected = true;
            } else if (redirected) {
                redirected = false;
            } else if (!words.isEmpty() || !ASSIGNMENT.matcher(word).matches()) {
                words.add(word.replaceAll("[\"']", ""));
            }
        }
    }

    String name() {
        return words.get(0);
    }

    List<String> arguments() {
        return words.subList(1, words.size());
    }

    @Override
    public String toString() {
        return String.join(" ", words);
    }
}
