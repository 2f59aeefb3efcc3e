package dev.podcache.kubelet.podconfig;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The table of {@code third_party/forked/golang/expansion/expand_test.go}. */
class VariableExpansionTest {

    private static final Map<String, String> VALUES =
            Map.of("VAR_A", "A", "VAR_B", "B", "VAR_C", "C", "VAR_REF", "$(VAR_A)", "VAR_EMPTY", "");

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            $(VAR_A) | A
            ___$(VAR_B)___ | ___B___
            $(VAR_A)_$(VAR_B)_$(VAR_C) | A_B_C
            $$(VAR_B)_$(VAR_A) | $(VAR_B)_A
            $$$(VAR_B)_$(VAR_A) | $B_A
            $$$$(VAR_B)_$(VAR_A) | $$(VAR_B)_A
            f000-$$VAR_A | f000-$VAR_A
            f000-$(VAR_A) | f000-A
            foo\\$(VAR_C)bar | foo\\Cbar
            foo\\\\$(VAR_C)bar | foo\\\\Cbar
            foo$$$$(VAR_B)bar | foo$$(VAR_B)bar
            $(VAR_A$(VAR_B)) | $(VAR_A$(VAR_B))
            $(VAR_A$(VAR_B) | $(VAR_A$(VAR_B)
            $(VAR_REF) | $(VAR_A)
            %%$(VAR_REF)--$(VAR_REF)%% | %%$(VAR_A)--$(VAR_A)%%
            foo$(VAR_EMPTY)bar | foobar
            foo$(VAR_Awhoops! | foo$(VAR_Awhoops!
            f00__(VAR_A)__ | f00__(VAR_A)__
            $?_boo_$! | $?_boo_$!
            $VAR_A | $VAR_A
            $(VAR_DNE) | $(VAR_DNE)
            $$$$$$(BIG_MONEY) | $$$(BIG_MONEY)
            $$$$$$(VAR_A) | $$$(VAR_A)
            $$$$$$$(GOOD_ODDS) | $$$$(GOOD_ODDS)
            $$$$$$$(VAR_A) | $$$A
            $VAR_A) | $VAR_A)
            ${VAR_A} | ${VAR_A}
            $(VAR_B)_______$(A | B_______$(A
            $(VAR_C)_______$( | C_______$(
            $(VAR_A)foobarzab$ | Afoobarzab$
            foo-\\$(VAR_A | foo-\\$(VAR_A
            --$($($($($-- | --$($($($($--
            $($($($($--foo$( | $($($($($--foo$(
            foo0--$($($($( | foo0--$($($($(
            $(foo$$var) | $(foo$$var)
            """)
    void expand_upstreamCase(String text, String expected) {
        assertThat(VariableExpansion.expand(text, VALUES::get)).isEqualTo(expected);
    }

    @Test
    void expand_emptyText_staysEmpty() {
        assertThat(VariableExpansion.expand("", VALUES::get)).isEmpty();
    }

    @Test
    void expand_emptyName_isAskedForLikeAnyOther() {
        assertThat(VariableExpansion.expand("<$()>", name -> name.isEmpty() ? "nothing" : null))
                .isEqualTo("<nothing>");
    }
}
