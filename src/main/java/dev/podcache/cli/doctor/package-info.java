/**
 * The subcommand {@code doctor}: looks at connection, clock, credentials and access as a cache would use them, and at a node, and says
 * what is wrong, why it matters and what to do. Changes nothing in the cluster.
 *
 * <p>Start reading at {@code DoctorCommand}. {@code ConnectionDiagnoses}, {@code CredentialDiagnoses}, {@code
 * AccessDiagnoses} and {@code NodeDiagnoses} turn answers into {@code Diagnosis}; so does {@code GrantDiagnoses} with what
 * {@code GrantsCheckup} reads of owners, Roles and bindings.
 *
 * <p>Locks: none; everything runs on the thread of the command, which waits for each answer.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.cli.doctor;

import org.jspecify.annotations.NullMarked;
