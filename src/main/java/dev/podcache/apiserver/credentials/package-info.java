/**
 * Who the client is and how it reaches the server: kubeconfigs, the service account of a pod, proxies, keys, certificates,
 * tokens, credential plugins, identity providers. Reads them as kubectl does; whatever kubectl refuses is refused by file,
 * field and remedy, never with a value. Nothing here opens a connection: {@code dev.podcache.apiserver.http} sends the
 * requests to identity providers.
 *
 * <p>Read {@code Kubeconfig} with {@code KubeconfigEntries}; {@code ServerUrl}, {@code ProxyRules}, {@code RequestHeaders}; {@code
 * PemText}, {@code PrivateKeys}, {@code ClientKeys}, {@code Authorities}; {@code CredentialPlugin}, {@code OidcTokens}, {@code
 * UserCredentials}; then {@code Credentials}, {@code IdentityReader}, {@code Identity}, {@code ConnectionSettings}.
 *
 * <p>Credentials are read by one thread at a time, of {@link dev.podcache.time.Timekeeper#urgent()}: {@code IdentityReader},
 * {@code OidcTokens} and {@code CredentialPlugin} are used by that read only. Everything else is immutable or pure.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>guards</th><th>locks taken inside it</th></tr>
 * <tr><td>{@code Credentials}</td><td>the known result, the read in progress</td><td>none</td></tr>
 * </table>
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.apiserver.credentials;

import org.jspecify.annotations.NullMarked;
