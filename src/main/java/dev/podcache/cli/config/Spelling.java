package dev.podcache.cli.config;

import java.util.Collection;
import java.util.Comparator;

/** Finds the word that a misspelt word is most similar to. */
final class Spelling {

    private Spelling() {}

    /**
     * Returns the candidate with the smallest edit distance; the first of several.
     *
     * @param candidates not empty
     */
    static String nearest(String word, Collection<String> candidates) {
        return candidates.stream()
                .min(Comparator.comparingInt(candidate -> distance(word, candidate)))
                .orElseThrow();
    }

    /** Returns the edit distance: the number of letters to change, add or remove. */
    static int distance(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int changed = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(changed, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[to.length()];
    }
}
