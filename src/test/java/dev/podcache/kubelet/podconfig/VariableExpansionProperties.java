package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Properties of the expansion of any text, including malformed references. */
class VariableExpansionProperties {

    @Provide
    Arbitrary<String> texts() {
        return Arbitraries.strings().withChars("$()AB x").ofMaxLength(24);
    }

    @Property
    void expand_withoutDollar_changesNothing(@ForAll String text) {
        String plain = text.replace("$", "");

        assertThat(VariableExpansion.expand(plain, name -> "value")).isEqualTo(plain);
    }

    /**
     * Without doubled dollar signs and known names the text is unchanged, also by a second expansion.
     */
    @Property
    void expand_nothingKnownAndNothingDoubled_changesNothing(@ForAll("texts") String text) {
        String single = text.replaceAll("\\$+", "\\$");

        assertThat(VariableExpansion.expand(single, name -> null)).isEqualTo(single);
    }

    @Property
    void expand_doubledDollars_givesTheTextBack(@ForAll("texts") String text) {
        assertThat(VariableExpansion.expand(text.replace("$", "$$"), name -> "value"))
                .isEqualTo(text);
    }

    /** Inserted values are not expanded, even if they look like a reference. */
    @Property
    void expand_betweenQuotedTexts_putsTheValueInAsItIs(
            @ForAll("texts") String before, @ForAll("texts") String value, @ForAll("texts") String after) {
        String text = before.replace("$", "$$") + "$(A)" + after.replace("$", "$$");

        assertThat(VariableExpansion.expand(text, name -> name.equals("A") ? value : null))
                .isEqualTo(before + value + after);
    }

    /** The reference implementation: character by character, as upstream describes it. */
    @Property
    void expand_anyText_isWhatTheGrammarSays(@ForAll("texts") String text) {
        StringBuilder expected = new StringBuilder();
        int at = 0;
        while (at < text.length()) {
            int close = text.indexOf(')', at);
            if (text.startsWith("$$", at)) {
                expected.append('$');
                at += 2;
            } else if (text.startsWith("$(", at) && close > 0) {
                String name = text.substring(at + 2, close);
                expected.append(name.equals("A") ? "value" : text.substring(at, close + 1));
                at = close + 1;
            } else {
                expected.append(text.charAt(at));
                at++;
            }
        }

        assertThat(VariableExpansion.expand(text, name -> name.equals("A") ? "value" : null))
                .isEqualTo(expected.toString());
    }
}
