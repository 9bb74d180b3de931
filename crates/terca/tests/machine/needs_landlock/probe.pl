# Tries one way out of a sandbox. The status is 0 if there is one.
use strict;
use Socket;
my ($way, $at, $name, $socket, $answer) = @ARGV;
my %number = `uname -m` =~ /aarch64/
  ? (keyctl => 219, io_uring_setup => 425, userfaultfd => 282)
  : (keyctl => 250, io_uring_setup => 425, userfaultfd => 323);
sub address { sockaddr_in($at, inet_aton($name || '127.0.0.1')) }
sub by_stream { socket($socket, PF_INET, SOCK_STREAM, shift) && connect($socket, address()) }
my %ways = (
  # The keyring of the session.
  keys => sub { syscall($number{keyctl}, 0, -3, 1) > 0 },
  'queue of calls' => sub { my $settings = "\0" x 120; syscall($number{io_uring_setup}, 1, $settings) >= 0 },
  'faults' => sub { syscall($number{userfaultfd}, 1) >= 0 },
  'make memory' => sub { defined shmget($at, 4096, 01600) },
  'remove memory' => sub { my $id = shmget($at, 0, 0); defined $id && shmctl($id, 0, 0) },
  memory => sub { my ($id, $found) = shmget($at, 0, 0); defined $id && shmread($id, $found, 0, 1) },
  tcp => sub { by_stream(6) },
  mptcp => sub { by_stream(262) },
  # Connects with the first bytes.
  'fast open' => sub {
    socket($socket, PF_INET, SOCK_STREAM, 6) && defined send($socket, 'x', 0x20000000, address());
  },
  udp => sub {
    socket($socket, PF_INET, SOCK_DGRAM, 17) && connect($socket, address()) && defined send($socket, 'x', 0)
      && defined recv($socket, $answer, 1, 0);
  },
  socket => sub { socket($socket, PF_UNIX, SOCK_STREAM, 0) && connect($socket, sockaddr_un($at)) },
  'abstract socket' => sub {
    socket($socket, PF_UNIX, SOCK_STREAM, 0) && connect($socket, pack('S a*', AF_UNIX, "\0$at"));
  },
);
exit($ways{$way}->() ? 0 : 1);
