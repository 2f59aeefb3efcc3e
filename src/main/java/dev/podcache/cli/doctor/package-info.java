/**
 * The subcommand {@code doctor}: looks at connection, clock, credentials and access as a cache would use them, and says
 * what is wrong, why it matters and what to do. Changes nothing in the cluster.
 *
 * <p>Start reading at {@code DoctorCommand}. {@code ConnectionDiagnoses}, {@code CredentialDiagnoses} and {@code
 * AccessDiagnoses} turn answers into {@code Diagnosis}.
 *
 * <p>Locks: none; everything runs on the thread of the command, which waits for each answer.
 */
@NullMarked
package dev.podcache.cli.doctor;

import org.jspecify.annotations.NullMarked;
