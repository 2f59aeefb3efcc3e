package dev.podcache.documentation;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Draws sentences at random from the Javadoc, the comments, the log lines, the messages and the help of src/main, for a
 * reader to judge. The same seed on the same sources draws the same sentences.
 *
 * <p>{@code java src/test/java/dev/podcache/documentation/SentencesProgram.java SEED COUNT}, where the seed is a
 * hexadecimal number such as the hash of a commit.
 */
@SuppressWarnings("StringSplitter") // runs without a class path, and empty parts are left out
final class SentencesProgram {

    private static final Path SOURCES = Path.of("src/main/java");
    private static final Pattern COMMENT = Pattern.compile("/\\*\\*?(.*?)\\*/|(?m)(?<![:\"])//(.*?)$", Pattern.DOTALL);
    private static final Pattern TEXT = Pattern.compile("\"((?:[^\"\\\\\\n]|\\\\.)*)\"");
    private static final Pattern END_OF_SENTENCE = Pattern.compile("(?<=[.!?])\\s+(?=[A-Z{`])");
    private static final Pattern PARAGRAPHS = Pattern.compile("\\n\\s*\\n");
    private static final Pattern WORDS = Pattern.compile(" ");
    private static final int LEAST_WORDS = 4;

    private SentencesProgram() {}

    /**
     * Prints the sentences, each with the file that it is from.
     *
     * @param arguments the seed and how many
     */
    public static void main(String[] arguments) throws IOException {
        List<String> sentences = all();
        System.out.println(sentences.size() + " sentences in " + SOURCES);
        Collections.shuffle(sentences, new Random(new BigInteger(arguments[0], 16).longValue()));
        sentences.stream().limit(Integer.parseInt(arguments[1])).forEach(System.out::println);
    }

    private static List<String> all() throws IOException {
        List<String> sentences = new ArrayList<>();
        try (Stream<Path> files = Files.walk(SOURCES)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".java"))
                    .sorted()
                    .toList()) {
                String source = Files.readString(file);
                String from = file.getFileName() + ": ";
                prose(source).forEach(sentence -> sentences.add(from + sentence));
                texts(source).forEach(text -> sentences.add(from + '"' + text + '"'));
            }
        }
        return sentences;
    }

    private static List<String> prose(String source) {
        List<String> sentences = new ArrayList<>();
        Matcher comments = COMMENT.matcher(source);
        while (comments.find()) {
            String comment = comments.group(1) == null ? comments.group(2) : comments.group(1);
            String text = comment.replaceAll("(?m)^\\s*\\* ?", "")
                    .replaceAll("(?s)<pre>.*?</pre>|<table>.*?</table>|<dl>.*?</dl>", "")
                    .replaceAll("(?m)^@(param|throws|return)\\s+\\S+ ", "\n\n")
                    .replaceAll("<[^>]+>", "\n\n");
            for (String paragraph : PARAGRAPHS.split(text)) {
                for (String sentence :
                        END_OF_SENTENCE.split(paragraph.replaceAll("\\s+", " ").strip())) {
                    add(sentences, sentence);
                }
            }
        }
        return sentences;
    }

    private static List<String> texts(String source) {
        List<String> texts = new ArrayList<>();
        Matcher strings = TEXT.matcher(COMMENT.matcher(source).replaceAll(""));
        while (strings.find()) {
            add(texts, strings.group(1));
        }
        return texts;
    }

    private static void add(List<String> sentences, String sentence) {
        if (WORDS.split(sentence).length >= LEAST_WORDS) {
            sentences.add(sentence);
        }
    }
}
