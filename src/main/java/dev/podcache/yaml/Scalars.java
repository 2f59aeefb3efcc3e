package dev.podcache.yaml;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a word without quotation marks means in YAML 1.1, as go-yaml reads it ({@code resolve.go} of {@code
 * sigs.k8s.io/yaml/goyaml.v2}). Pure functions.
 */
final class Scalars {

    private static final Set<String> NULLS = Set.of("", "~", "null", "Null", "NULL");

    private static final Map<String, Boolean> BOOLEANS = Map.ofEntries(
            Map.entry("y", true),
            Map.entry("Y", true),
            Map.entry("yes", true),
            Map.entry("Yes", true),
            Map.entry("YES", true),
            Map.entry("true", true),
            Map.entry("True", true),
            Map.entry("TRUE", true),
            Map.entry("on", true),
            Map.entry("On", true),
            Map.entry("ON", true),
            Map.entry("n", false),
            Map.entry("N", false),
            Map.entry("no", false),
            Map.entry("No", false),
            Map.entry("NO", false),
            Map.entry("false", false),
            Map.entry("False", false),
            Map.entry("FALSE", false),
            Map.entry("off", false),
            Map.entry("Off", false),
            Map.entry("OFF", false));

    /** In characters. A longer one is a float, as everything beyond 64 bits; reading its digits would take long. */
    private static final int LONGEST_INTEGER = 70;

    private static final Pattern INTEGER =
            Pattern.compile("([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))");
    private static final Pattern FLOAT =
            Pattern.compile("[-+]?(?:\\.[0-9]++|[0-9]++(?:\\.[0-9]*+)?)(?:[eE][-+]?[0-9]++)?");
    private static final Pattern NO_NUMBER_OF_JSON = Pattern.compile("[-+]?\\.(?:inf|Inf|INF)|\\.(?:nan|NaN|NAN)");

    private static final BigInteger LARGEST = BigInteger.ONE.shiftLeft(64);
    /** From here on, JSON has an exponent. */
    private static final double EXPONENT_FROM = 1e21;

    private static final BigInteger SMALLEST = BigInteger.valueOf(Long.MIN_VALUE);

    private Scalars() {}

    /** Returns null, a {@code Boolean}, a number of the narrowest type, or, for anything else, the word. */
    static @Nullable Object plain(String word) {
        if (NULLS.contains(word)) {
            return null;
        }
        Boolean truth = BOOLEANS.get(word);
        if (truth != null) {
            return truth;
        }
        char first = word.charAt(0);
        boolean maybeNumber = (first >= '0' && first <= '9') || first == '-' || first == '+' || first == '.';
        return maybeNumber ? number(word) : word;
    }

    /** Returns whether the word is a number that JSON, and so Kubernetes, does not have: infinite, or none. */
    static boolean isNoNumberOfJson(String word) {
        return NO_NUMBER_OF_JSON.matcher(word).matches();
    }

    private static Object number(String word) {
        String digits = word.replace("_", "");
        Matcher integer = INTEGER.matcher(digits.length() <= LONGEST_INTEGER ? digits : "");
        if (integer.matches()) {
            BigInteger value = value(integer);
            if (value.compareTo(SMALLEST) >= 0 && value.compareTo(LARGEST) < 0) {
                return integer(value);
            }
        }
        return FLOAT.matcher(digits).matches() ? real(digits, word) : word;
    }

    /** A whole number is one however it is written, as in the JSON that go-yaml's caller makes: {@code 1e3} is 1000. */
    private static Object real(String digits, String word) {
        double value = Double.parseDouble(digits);
        if (Double.isInfinite(value)) {
            return word;
        }
        boolean whole = value == Math.rint(value) && Math.abs(value) < EXPONENT_FROM;
        return whole ? integer(new BigDecimal(value).toBigIntegerExact()) : (Object) value;
    }

    private static Object integer(BigInteger value) {
        if (value.bitLength() < Integer.SIZE) {
            return value.intValue();
        }
        return value.bitLength() < Long.SIZE ? (Object) value.longValue() : value;
    }

    private static BigInteger value(Matcher integer) {
        int[] radix = {16, 2, 8, 10};
        for (int group = 0; group < radix.length; group++) {
            String digits = integer.group(group + 2);
            if (digits != null) {
                BigInteger value = new BigInteger(digits, radix[group]);
                return integer.group(1).equals("-") ? value.negate() : value;
            }
        }
        throw new IllegalStateException("an integer without digits");
    }
}
