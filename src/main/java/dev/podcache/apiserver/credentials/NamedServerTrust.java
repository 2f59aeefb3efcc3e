package dev.podcache.apiserver.credentials;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.X509TrustManager;

/**
 * Verifies the certificate of a server whose name has an {@code _}, for its name too. The JDK takes such a name for no host
 * name and refuses every certificate; Go and DNS know it. Immutable.
 */
final class NamedServerTrust implements X509TrustManager {

    private static final Integer DNS_NAME = 2;

    private final X509TrustManager authorities;
    private final String name;

    private NamedServerTrust(X509TrustManager authorities, String name) {
        this.authorities = authorities;
        this.name = name;
    }

    /** Returns whether the JDK cannot verify the name of a server. */
    static boolean isNeededFor(String name) {
        return name.contains("_");
    }

    /** Returns what verifies by {@code authorities} that a server has a name. */
    static X509TrustManager of(X509TrustManager authorities, String name) {
        return new NamedServerTrust(authorities, name.toLowerCase(Locale.ROOT));
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        authorities.checkServerTrusted(chain, authType);
        Collection<List<?>> names = chain[0].getSubjectAlternativeNames();
        boolean named = names != null
                && names.stream()
                        .filter(each -> DNS_NAME.equals(each.get(0)))
                        .anyMatch(each -> matches(String.valueOf(each.get(1)).toLowerCase(Locale.ROOT)));
        if (!named) {
            throw new CertificateException("No subject alternative DNS name matching " + name + " found");
        }
    }

    /** A wildcard stands for the first label, as for Go. */
    private boolean matches(String pattern) {
        int dot = name.indexOf('.');
        return pattern.equals(name) || (dot > 0 && pattern.equals("*" + name.substring(dot)));
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        authorities.checkClientTrusted(chain, authType);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return authorities.getAcceptedIssuers();
    }
}
