package dev.podcache.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.base.Ascii;
import com.google.common.collect.ImmutableList;
import com.google.common.io.BaseEncoding;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** Finds {@link NoLeaks#CANARY}, the secret in test payloads, in text. */
final class Canary {

    private static final ImmutableList<String> FORMS = forms();

    private Canary() {}

    /**
     * Returns whether {@code text} contains the canary: plain, in base64 at any offset, in hexadecimal, or as a list of
     * bytes; forwards or backwards. Ignores case, because parsers change it.
     */
    static boolean isIn(@Nullable String text) {
        if (text == null) {
            return false;
        }
        String lower = Ascii.toLowerCase(text);
        return FORMS.stream().anyMatch(lower::contains);
    }

    /**
     * Returns the text that a user can see of {@code object}. For an exception, this includes its causes and suppressed
     * exceptions.
     */
    static String textOf(Object object) {
        if (!(object instanceof Throwable thrown)) {
            return String.valueOf(object);
        }
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    private static ImmutableList<String> forms() {
        byte[] bytes = NoLeaks.CANARY.getBytes(UTF_8);
        ImmutableList.Builder<String> forms = ImmutableList.builder();
        forms.add(NoLeaks.CANARY, new StringBuilder(NoLeaks.CANARY).reverse().toString());
        forms.add(BaseEncoding.base16().encode(bytes));
        String list = Arrays.toString(bytes);
        forms.add(list.substring(1, list.length() - 1));
        for (int before = 0; before < 3; before++) {
            String encoded = Base64.getEncoder().encodeToString(("x".repeat(before) + NoLeaks.CANARY).getBytes(UTF_8));
            // the characters that depend on the canary only
            forms.add(encoded.substring(before == 0 ? 0 : 4, encoded.length() - 4));
        }
        return forms.build().stream().map(Ascii::toLowerCase).collect(ImmutableList.toImmutableList());
    }
}
