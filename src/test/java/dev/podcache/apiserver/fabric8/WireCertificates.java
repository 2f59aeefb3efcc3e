package dev.podcache.apiserver.fabric8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Date;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/** A certificate authority for servers and clients of this package's tests. All certificates share one RSA key. */
final class WireCertificates {

    private static final char[] NO_PASSWORD = {};
    private static final Duration VALID = Duration.ofDays(2);
    private static final AtomicLong SERIAL = new AtomicLong(1);
    private static final X500Name ISSUER = new X500Name("CN=wire-ca");
    private static final KeyPair KEYS = keys();
    private static final X509Certificate AUTHORITY = newAuthority();

    private WireCertificates() {}

    /** The certificate of the authority, as PEM. */
    static String authorityPem() {
        return pem("CERTIFICATE", encoded(AUTHORITY));
    }

    static X509Certificate authority() {
        return AUTHORITY;
    }

    /** The private key of every certificate, as PEM. */
    static String keyPem() {
        return pem("PRIVATE KEY", KEYS.getPrivate().getEncoded());
    }

    /** A client certificate with this common name, as PEM. */
    static String clientPem(String commonName) {
        return pem("CERTIFICATE", encoded(sign(builder("CN=" + commonName))));
    }

    /** A server certificate, as PEM: for these DNS names, or for 127.0.0.1 if there are none. */
    static String serverPem(String... names) {
        return pem("CERTIFICATE", encoded(server(names)));
    }

    /** TLS of a server on 127.0.0.1. */
    static SSLContext serverTls() {
        try {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, NO_PASSWORD);
            store.setKeyEntry("server", KEYS.getPrivate(), NO_PASSWORD, new X509Certificate[] {server(), AUTHORITY});
            KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            factory.init(store, NO_PASSWORD);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(factory.getKeyManagers(), null, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What a kubeconfig calls {@code ...-data}. */
    static String base64(String pem) {
        return Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.US_ASCII));
    }

    private static X509Certificate server(String... names) {
        GeneralName[] all = names.length == 0
                ? new GeneralName[] {new GeneralName(GeneralName.iPAddress, "127.0.0.1")}
                : Arrays.stream(names)
                        .map(name -> new GeneralName(GeneralName.dNSName, name))
                        .toArray(GeneralName[]::new);
        X509v3CertificateBuilder builder = builder("CN=server");
        try {
            builder.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(all));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return sign(builder);
    }

    private static KeyPair keys() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(2048);
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static X509Certificate newAuthority() {
        X509v3CertificateBuilder builder = builder(ISSUER.toString());
        try {
            builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(true));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return sign(builder);
    }

    private static X509v3CertificateBuilder builder(String subject) {
        return new JcaX509v3CertificateBuilder(
                ISSUER,
                BigInteger.valueOf(SERIAL.getAndIncrement()),
                Date.from(Instant.now().minus(VALID)),
                Date.from(Instant.now().plus(VALID)),
                new X500Name(subject),
                KEYS.getPublic());
    }

    private static X509Certificate sign(X509v3CertificateBuilder builder) {
        try {
            return new JcaX509CertificateConverter()
                    .getCertificate(
                            builder.build(new JcaContentSignerBuilder("SHA256withRSA").build(KEYS.getPrivate())));
        } catch (OperatorCreationException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] encoded(X509Certificate certificate) {
        try {
            return certificate.getEncoded();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String pem(String type, byte[] der) {
        return "-----BEGIN " + type + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der)
                + "\n-----END " + type + "-----\n";
    }
}
