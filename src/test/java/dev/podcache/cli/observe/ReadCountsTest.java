package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMultiset;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class ReadCountsTest {

    /** The output is also read by scripts. */
    @Test
    void text_localeWithDigitsOfItsOwn_hasThoseOfAscii() {
        ReadCounts counts = new ReadCounts(ImmutableMultiset.of(ReadCounts.HITS), ImmutableMultiset.of());
        Locale before = Locale.getDefault(Locale.Category.FORMAT);
        Locale.setDefault(Locale.Category.FORMAT, Locale.forLanguageTag("ar-EG-u-nu-arab"));
        try {
            assertThat(counts.text()).isEqualTo("1     hits 1     stale 0     waited 0     failed 0");
        } finally {
            Locale.setDefault(Locale.Category.FORMAT, before);
        }
    }
}
