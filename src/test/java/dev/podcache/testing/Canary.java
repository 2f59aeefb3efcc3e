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

/** The forms in which a payload's {@link NoLeaks#CANARY} may come to light. */
final class Canary {

    private static final ImmutableList<String> FORMS = forms();

    private Canary() {}

    /**
     * Whether {@code text} shows it: plain, in base64 (whatever stands before it), in hexadecimal digits, as a list of
     * bytes, forwards or backwards; in capitals or not, because parsers change those.
     */
    static boolean isIn(@Nullable String text) {
        if (text == null) {
            return false;
        }
        String lower = Ascii.toLowerCase(text);
        return FORMS.stream().anyMatch(lower::contains);
    }

    /** All that a person can get to see of {@code object}: an exception with its causes and all that it suppressed. */
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
            // the characters that depend on nothing but the canary
            forms.add(encoded.substring(before == 0 ? 0 : 4, encoded.length() - 4));
        }
        return forms.build().stream().map(Ascii::toLowerCase).collect(ImmutableList.toImmutableList());
    }
}
