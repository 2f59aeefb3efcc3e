package dev.podcache.cli.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class SpreadTest {

    @Test
    void of_oddNumberOfValues_isTheMiddleOneWithTheExtremes() {
        assertThat(Spread.of(List.of(5.0, 1.0, 2.0))).isEqualTo(new Spread(1, 2, 5));
    }

    @Test
    void of_evenNumberOfValues_isBetweenTheMiddleOnes() {
        assertThat(Spread.of(List.of(4.0, 1.0, 2.0, 9.0)).median()).isEqualTo(3);
    }

    @Test
    void of_nothing_isRefused() {
        assertThatThrownBy(() -> Spread.of(List.of())).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void isWithin_medianBelowAndHighestAbove_isFalse() {
        assertThat(new Spread(1.0, 1.2, 1.31).isWithin(1.3)).isFalse();
        assertThat(new Spread(1.0, 1.2, 1.3).isWithin(1.3)).isTrue();
    }

    @Test
    void text_valuesThatDiffer_namesTheExtremes() {
        assertThat(new Spread(0.99, 1.5, 1234).text()).isEqualTo("1.50 (0.99 to 1,234)");
        assertThat(new Spread(3, 3, 3).text()).isEqualTo("3");
    }
}
