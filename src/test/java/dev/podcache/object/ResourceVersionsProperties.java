package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class ResourceVersionsProperties {

    private static final BigInteger LIMIT = BigInteger.ONE.shiftLeft(64);

    @Property
    void isOlder_unsignedNumbers_isTheirOrder(
            @ForAll("versions") BigInteger left, @ForAll("versions") BigInteger right) {
        assertThat(ResourceVersions.isOlder(left.toString(), right.toString())).isEqualTo(left.compareTo(right) < 0);
    }

    @Property
    void parse_upToTwentyDigits_isTheUnsignedNumberIfThereIsOne(@ForAll("digits") String digits) {
        BigInteger number = new BigInteger(digits);

        if (number.compareTo(LIMIT) < 0) {
            assertThat(ResourceVersions.parse(digits)).hasValue(number.longValue());
        } else {
            assertThat(ResourceVersions.parse(digits)).isEmpty();
        }
    }

    @Property
    void parse_anyText_isUnknownUnlessAllDigits(@ForAll String text) {
        boolean number = text.matches("[0-9]{1,20}") && new BigInteger(text).compareTo(LIMIT) < 0;

        assertThat(ResourceVersions.parse(text).isPresent()).isEqualTo(number);
    }

    @Property
    void isOlder_oneUnknown_isNeverSo(@ForAll("versions") BigInteger known, @ForAll("unknown") String unknown) {
        assertThat(ResourceVersions.isOlder(known.toString(), unknown)).isFalse();
        assertThat(ResourceVersions.isOlder(unknown, known.toString())).isFalse();
    }

    @Example
    void isOlder_null_isNeverSo() {
        assertThat(ResourceVersions.isOlder(null, "1")).isFalse();
        assertThat(ResourceVersions.isOlder("1", null)).isFalse();
    }

    @Provide
    Arbitrary<BigInteger> versions() {
        return Arbitraries.bigIntegers().between(BigInteger.ZERO, LIMIT.subtract(BigInteger.ONE));
    }

    @Provide
    Arbitrary<String> digits() {
        Arbitrary<String> any = Arbitraries.strings().numeric().ofMinLength(1).ofMaxLength(20);
        Arbitrary<String> nearLimit = Arbitraries.bigIntegers()
                .between(LIMIT.subtract(BigInteger.TEN), LIMIT.add(BigInteger.TEN))
                .map(BigInteger::toString);
        return Arbitraries.oneOf(any, nearLimit);
    }

    @Provide
    Arbitrary<String> unknown() {
        return Arbitraries.of(
                "", "-1", "+1", " 1", "1 ", "0x1", "1.0", "18446744073709551616", "000000000000000000001", "٣");
    }
}
