package dev.podcache.kubelet.certificate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.credentials.Der;
import java.io.IOException;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.DEROctetString;

/** Compares the encoding with that of Bouncy Castle. */
class DerProperties {

    @Property
    void octets_ofAnyLength_areEncodedWithTheShortestLength(@ForAll @IntRange(max = 70_000) int length)
            throws IOException {
        byte[] value = new byte[length];

        assertThat(Der.octets(value)).isEqualTo(new DEROctetString(value).getEncoded());
    }

    @Property
    void identifier_ofAnyNumber_isEncodedInBase128(@ForAll @IntRange(max = 10_000_000) int number) throws IOException {
        assertThat(Der.identifier(42, number, 1))
                .isEqualTo(new ASN1ObjectIdentifier("1.2." + number + ".1").getEncoded());
    }
}
