package dev.podcache.kubelet.certificate;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.certificates.v1.CertificateSigningRequest;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.util.Base64;
import org.bouncycastle.operator.jcajce.JcaContentVerifierProviderBuilder;
import org.bouncycastle.pkcs.PKCS10CertificationRequest;
import org.junit.jupiter.api.Test;

class SigningRequestTest {

    private final KeyPair keys = KeyPairs.newPair();
    private final SigningRequest request = new SigningRequest("edge-1", keys);

    @Test
    void encoded_isAPkcs10RequestSignedWithItsKey() throws Exception {
        PKCS10CertificationRequest parsed = new PKCS10CertificationRequest(request.encoded());

        assertThat(parsed.getSubject()).hasToString("O=system:nodes,CN=system:node:edge-1");
        assertThat(parsed.getSubjectPublicKeyInfo().getEncoded())
                .isEqualTo(keys.getPublic().getEncoded());
        assertThat(parsed.isSignatureValid(new JcaContentVerifierProviderBuilder().build(keys.getPublic())))
                .isTrue();
        assertThat(parsed.isSignatureValid(new JcaContentVerifierProviderBuilder()
                        .build(KeyPairs.newPair().getPublic())))
                .isFalse();
        assertThat(parsed.getAttributes()).isEmpty();
    }

    @Test
    void object_asksForAClientCertificateOfANode() {
        CertificateSigningRequest object = request.object();

        assertThat(object.getSpec().getSignerName()).isEqualTo("kubernetes.io/kube-apiserver-client-kubelet");
        assertThat(object.getSpec().getUsages()).containsExactly("digital signature", "client auth");
        assertThat(new String(Base64.getDecoder().decode(object.getSpec().getRequest()), StandardCharsets.US_ASCII))
                .startsWith("-----BEGIN CERTIFICATE REQUEST-----\n")
                .endsWith("\n-----END CERTIFICATE REQUEST-----\n");
    }

    @Test
    void name_isADigestOfKeyAndNode() {
        assertThat(request.key().name()).matches("node-csr-[A-Za-z0-9_-]{43}");
        assertThat(new SigningRequest("edge-1", keys).key()).isEqualTo(request.key());
        assertThat(new SigningRequest("edge-2", keys).key()).isNotEqualTo(request.key());
        assertThat(new SigningRequest("edge-1", KeyPairs.newPair()).key()).isNotEqualTo(request.key());
    }
}
