#include <cerrno>
#include <cstdio>

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"

namespace probe {

Team::Team(int ranks) : ranks_(ranks) {
  void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw Refused(text("mmap: %s", strerror(errno)));
  board_ = static_cast<Board*>(memory);  // zero pages are valid lock-free atomics
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, sockets_) != 0) {
    throw Refused(text("socketpair: %s", strerror(errno)));
  }
}

Team::~Team() {
  close(sockets_[0]);
  close(sockets_[1]);
  munmap(board_, sizeof(Board));
}

void Team::barrier() {
  const int generation = board_->generation.load();
  if (board_->arrived.fetch_add(1) + 1 == ranks_) {
    board_->arrived = 0;
    board_->generation = generation + 1;
    return;
  }
  wait_for([&] { return board_->generation.load() != generation; });
}

void Team::wait_for(const std::function<bool()>& condition) {
  while (!condition()) {
    if (board_->failed.load() != 0) throw Refused("another rank failed");
    sched_yield();
  }
}

void Team::fail(int rank, const std::string& what) {
  int none = 0;
  if (!board_->failed.compare_exchange_strong(none, 1)) return;
  snprintf(board_->error, sizeof board_->error, "rank %d: %s", rank, what.c_str());
  board_->failed = 2;
}

std::string Team::failure() const { return board_->failed.load() == 2 ? board_->error : ""; }

void Team::send_fd(int fd) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  msghdr message{};
  message.msg_iov = &data, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  if (sendmsg(sockets_[0], &message, 0) < 0) throw Refused(text("sendmsg: %s", strerror(errno)));
}

int Team::receive_fd() {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  if (recvmsg(sockets_[1], &message, MSG_CMSG_CLOEXEC) < 0)
    throw Refused(text("recvmsg: %s", strerror(errno)));
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) throw Refused("no descriptor arrived");
  int fd = -1;
  memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return fd;
}

}  // namespace probe
