package dev.podcache.apiserver.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ByteBudgetTest {

    private final ByteBudget budget = new ByteBudget(10);

    @Test
    void take_upToTheWhole_succeeds() {
        assertThat(budget.take(4)).isTrue();
        assertThat(budget.take(6)).isTrue();
    }

    @Test
    void take_beyondTheWhole_takesNothing() {
        budget.take(4);

        assertThat(budget.take(7)).isFalse();
        assertThat(budget.take(6)).isTrue();
    }

    @Test
    void giveBack_isThereForOthers() {
        budget.take(10);
        budget.giveBack(3);

        assertThat(budget.take(3)).isTrue();
        assertThat(budget.take(1)).isFalse();
    }
}
