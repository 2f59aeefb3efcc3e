package dev.podcache.testing;

import com.google.common.net.InetAddresses;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.X509EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.operator.jcajce.JcaContentVerifierProviderBuilder;
import org.bouncycastle.pkcs.PKCS10CertificationRequest;
import org.bouncycastle.pkcs.PKCSException;

/**
 * The certificate authority of a test server. Issues the certificates of the server and of users. Thread-safe.
 *
 * <p>All certificates of all authorities of a JVM share one RSA key, because generating a key takes seconds in a JVM
 * without the optimizing compiler, and test servers need no secrecy. So these authorities trust each other's
 * certificates; the one of {@link #another} has another key.
 */
public final class TestCertificates {

    private static final char[] NO_PASSWORD = {};
    private static final Duration VALID = Duration.ofDays(2);

    private static final AtomicLong SERIAL = new AtomicLong(1);
    private static final GeneralName[] LOOPBACK = {
        new GeneralName(GeneralName.iPAddress, "127.0.0.1"), new GeneralName(GeneralName.dNSName, "localhost")
    };

    private final KeyPair keys;
    private final X500Name issuer = name("podcache-test-ca");
    private final X509Certificate authority;

    /** Keys that are made when they are needed for the first time. */
    private static final class SharedKeys {

        static final KeyPair KEYS = newPair();
    }

    private static final class OtherKeys {

        static final KeyPair KEYS = newPair();
    }

    /** Creates an authority. */
    public TestCertificates() throws GeneralSecurityException, IOException {
        this(SharedKeys.KEYS);
    }

    /** Creates an authority of the same name with another key, which does not trust the certificates of the others. */
    public static TestCertificates another() throws GeneralSecurityException, IOException {
        return new TestCertificates(OtherKeys.KEYS);
    }

    private static KeyPair newPair() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(1024);
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime has no RSA keys", e);
        }
    }

    private TestCertificates(KeyPair keys) throws GeneralSecurityException, IOException {
        this.keys = keys;
        X509v3CertificateBuilder builder = builder(issuer);
        builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(true));
        authority = sign(builder);
    }

    /** Returns the certificate of the authority as PEM. */
    public String authorityPem() throws GeneralSecurityException {
        return pem("CERTIFICATE", authority.getEncoded());
    }

    /** Returns the private key of all certificates as PEM. */
    public String privateKeyPem() {
        return pem("PRIVATE KEY", keys.getPrivate().getEncoded());
    }

    /** Returns the public key of all certificates as PEM. */
    String publicKeyPem() {
        return pem("PUBLIC KEY", keys.getPublic().getEncoded());
    }

    /** Returns a certificate for a server on the loopback address as PEM. */
    public String serverPem() throws GeneralSecurityException, IOException {
        return serverPemUntil(Instant.now().plus(VALID));
    }

    /** Returns a certificate for a server on the loopback address that is valid until {@code end}, as PEM. */
    public String serverPemUntil(Instant end) throws GeneralSecurityException, IOException {
        return pem("CERTIFICATE", server(end, LOOPBACK).getEncoded());
    }

    /** Returns a certificate for a server of this DNS name or IP address, as PEM. */
    public String serverPemFor(String host) throws GeneralSecurityException, IOException {
        int kind = InetAddresses.isInetAddress(host) ? GeneralName.iPAddress : GeneralName.dNSName;
        GeneralName name = new GeneralName(kind, host);
        return pem("CERTIFICATE", server(Instant.now().plus(VALID), name).getEncoded());
    }

    private X509Certificate server(Instant end, GeneralName... names) throws GeneralSecurityException, IOException {
        X509v3CertificateBuilder builder = builder(name("kube-apiserver"), end);
        builder.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(names));
        builder.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth));
        return sign(builder);
    }

    /** Returns a client certificate of {@code user} in {@code groups} as PEM. */
    public String userPem(String user, String... groups) throws GeneralSecurityException, IOException {
        return userPemUntil(Instant.now().plus(VALID), user, groups);
    }

    /** Returns a client certificate of {@code user} in {@code groups} that is valid until {@code end}, as PEM. */
    public String userPemUntil(Instant end, String user, String... groups)
            throws GeneralSecurityException, IOException {
        return pem("CERTIFICATE", user(end, user, groups).getEncoded());
    }

    /**
     * Returns the client certificate that a PKCS#10 request asks for, as PEM.
     *
     * @param request as PEM
     * @throws GeneralSecurityException if {@code request} is not signed with its key
     */
    public String signedPem(String request, Instant from, Instant end) throws GeneralSecurityException, IOException {
        PKCS10CertificationRequest parsed = parsed(request);
        return signedPem(parsed.getSubject(), parsed.getSubjectPublicKeyInfo(), from, end);
    }

    /** Returns a certificate for the subject that a PKCS#10 request names, but with the key of this authority, as PEM. */
    public String signedWithOwnKeyPem(String request, Instant end) throws GeneralSecurityException, IOException {
        SubjectPublicKeyInfo own =
                SubjectPublicKeyInfo.getInstance(keys.getPublic().getEncoded());
        return signedPem(parsed(request).getSubject(), own, Instant.now().minus(VALID), end);
    }

    /** Returns a client certificate of {@code user} for a key of any kind, as PEM. */
    public String userPemOf(PublicKey key, String user, Instant from, Instant end)
            throws GeneralSecurityException, IOException {
        return signedPem(name(user), SubjectPublicKeyInfo.getInstance(key.getEncoded()), from, end);
    }

    private String signedPem(X500Name subject, SubjectPublicKeyInfo key, Instant from, Instant end)
            throws GeneralSecurityException, IOException {
        X509v3CertificateBuilder builder = new X509v3CertificateBuilder(
                issuer, BigInteger.valueOf(SERIAL.getAndIncrement()), Date.from(from), Date.from(end), subject, key);
        builder.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(KeyPurposeId.id_kp_clientAuth));
        return pem("CERTIFICATE", sign(builder).getEncoded());
    }

    private static PKCS10CertificationRequest parsed(String pem) throws GeneralSecurityException, IOException {
        String base64 = pem.replaceAll("-----[A-Z ]+-----", "");
        PKCS10CertificationRequest request =
                new PKCS10CertificationRequest(Base64.getMimeDecoder().decode(base64));
        try {
            if (request.isSignatureValid(new JcaContentVerifierProviderBuilder().build(publicKey(request)))) {
                return request;
            }
        } catch (OperatorCreationException | PKCSException e) {
            throw new GeneralSecurityException(e);
        }
        throw new GeneralSecurityException("the request is not signed with its key");
    }

    /** Bouncy Castle itself would ask for key factories by names that the JDK does not know. */
    private static PublicKey publicKey(PKCS10CertificationRequest request)
            throws GeneralSecurityException, IOException {
        X509EncodedKeySpec encoded =
                new X509EncodedKeySpec(request.getSubjectPublicKeyInfo().getEncoded());
        try {
            return KeyFactory.getInstance("EC").generatePublic(encoded);
        } catch (InvalidKeySpecException another) {
            return KeyFactory.getInstance("RSA").generatePublic(encoded);
        }
    }

    /** Returns the subject of a PKCS#10 request as PEM, such as {@code O=system:nodes,CN=system:node:worker-1}. */
    public static String subjectOf(String request) {
        try {
            return parsed(request).getSubject().toString();
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /** Returns a TLS context of {@code user} in {@code groups} that trusts this authority only. */
    public SSLContext tlsAs(String user, String... groups) throws GeneralSecurityException, IOException {
        KeyStore store = trusted();
        X509Certificate own = user(Instant.now().plus(VALID), user, groups);
        store.setKeyEntry("user", keys.getPrivate(), NO_PASSWORD, new X509Certificate[] {own, authority});
        return tls(store);
    }

    /** Returns a TLS context of a server on the loopback address. */
    public SSLContext serverTls() throws GeneralSecurityException, IOException {
        return serverTls(LOOPBACK);
    }

    /** Returns a TLS context of a server of this DNS name. */
    public SSLContext serverTlsFor(String dnsName) throws GeneralSecurityException, IOException {
        return serverTls(new GeneralName(GeneralName.dNSName, dnsName));
    }

    private SSLContext serverTls(GeneralName... serverNames) throws GeneralSecurityException, IOException {
        KeyStore store = trusted();
        X509Certificate own = server(Instant.now().plus(VALID), serverNames);
        store.setKeyEntry("server", keys.getPrivate(), NO_PASSWORD, new X509Certificate[] {own, authority});
        return tls(store);
    }

    /** Returns a TLS context without a client certificate that trusts this authority only. */
    public SSLContext tlsWithoutCertificate() throws GeneralSecurityException, IOException {
        return tls(trusted());
    }

    private KeyStore trusted() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, NO_PASSWORD);
        store.setCertificateEntry("authority", authority);
        return store;
    }

    private static SSLContext tls(KeyStore store) throws GeneralSecurityException {
        KeyManagerFactory keyManagers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keyManagers.init(store, NO_PASSWORD);
        TrustManagerFactory trustManagers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trustManagers.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keyManagers.getKeyManagers(), trustManagers.getTrustManagers(), null);
        return context;
    }

    private X509Certificate user(Instant end, String user, String... groups)
            throws GeneralSecurityException, IOException {
        X509v3CertificateBuilder builder = builder(name(user, groups), end);
        builder.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(KeyPurposeId.id_kp_clientAuth));
        return sign(builder);
    }

    /**
     * Returns the subject of a certificate. Kubernetes reads the user from the common name and the groups from the
     * organisations.
     */
    private static X500Name name(String user, String... groups) {
        X500NameBuilder subject = new X500NameBuilder(BCStyle.INSTANCE);
        for (String group : groups) {
            subject.addRDN(BCStyle.O, group);
        }
        return subject.addRDN(BCStyle.CN, user).build();
    }

    private X509v3CertificateBuilder builder(X500Name subject) {
        return builder(subject, Instant.now().plus(VALID));
    }

    private X509v3CertificateBuilder builder(X500Name subject, Instant end) {
        return new JcaX509v3CertificateBuilder(
                issuer,
                BigInteger.valueOf(SERIAL.getAndIncrement()),
                Date.from(Instant.now().minus(VALID)),
                Date.from(end),
                subject,
                keys.getPublic());
    }

    private X509Certificate sign(X509v3CertificateBuilder builder) throws GeneralSecurityException {
        try {
            return new JcaX509CertificateConverter()
                    .getCertificate(
                            builder.build(new JcaContentSignerBuilder("SHA256withRSA").build(keys.getPrivate())));
        } catch (OperatorCreationException e) {
            throw new GeneralSecurityException(e);
        }
    }

    private static String pem(String type, byte[] der) {
        byte[] newline = {'\n'};
        return "-----BEGIN " + type + "-----\n"
                + new String(Base64.getMimeEncoder(64, newline).encode(der), StandardCharsets.US_ASCII)
                + "\n-----END " + type + "-----\n";
    }
}
