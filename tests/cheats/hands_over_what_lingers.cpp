// Cheat: hands the grader a descriptor that takes a day to close: a TCP connection with unsent data
// and SO_LINGER, whose other end is behind it in the grader's own socket. The simulation's thread
// sleeps in close().
// Told: rank
#include <cstring>
#include <string>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "all_gather_all_reduce.h"

static void send_with(int line, const void* bytes, std::size_t count, int fd) {
  iovec part{const_cast<void*>(bytes), count};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (fd >= 0) {
    header.msg_control = room;
    header.msg_controllen = sizeof room;
    cmsghdr* const control = CMSG_FIRSTHDR(&header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(control), &fd, sizeof fd);
  }
  if (sendmsg(line, &header, MSG_NOSIGNAL) < 0) perror("sendmsg");
}

static void cheat(dist::Tensor&, const dist::Tensor&) {
  const int line = 4;
  const int door = socket(AF_INET, SOCK_STREAM, 0), ours = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  if (bind(door, reinterpret_cast<sockaddr*>(&place), size) != 0) perror("bind");
  listen(door, 1);
  getsockname(door, reinterpret_cast<sockaddr*>(&place), &size);
  if (connect(ours, reinterpret_cast<sockaddr*>(&place), size) != 0) perror("connect");
  const int theirs = accept(door, nullptr, nullptr);
  close(door);
  const linger slow{1, 100000};
  setsockopt(ours, SOL_SOCKET, SO_LINGER, &slow, sizeof slow);
  const std::string much(1 << 16, 'x');
  while (send(ours, much.data(), much.size(), MSG_DONTWAIT) > 0) {
  }
  const unsigned char length[4] = {1, 0, 0, 0}, now[1] = {3};
  send_with(line, length, 4, ours);
  close(ours);
  send_with(line, now, 1, -1);
  send_with(line, length, 4, theirs);
  close(theirs);
  send_with(line, now, 1, -1);
  _exit(0);
}
