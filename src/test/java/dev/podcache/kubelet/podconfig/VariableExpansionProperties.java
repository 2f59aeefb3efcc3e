package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** What expansion promises of any text, not only of well-formed ones. */
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
     * With no doubled dollar signs and no known names there is nothing to do, so doing it again does nothing either.
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

    /** What is put in is not looked at again: a value that looks like a reference stays one. */
    @Property
    void expand_betweenQuotedTexts_putsTheValueInAsItIs(
            @ForAll("texts") String before, @ForAll("texts") String value, @ForAll("texts") String after) {
        String text = before.replace("$", "$$") + "$(A)" + after.replace("$", "$$");

        assertThat(VariableExpansion.expand(text, name -> name.equals("A") ? value : null))
                .isEqualTo(before + value + after);
    }

    /** The reference: one character after the other, as upstream describes it. */
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
