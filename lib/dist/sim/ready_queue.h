// ReadyQueue: tasks ordered by time, first in first out at equal times. Simulated ranks advance in step, so a
// few distinct times hold many tasks each: it is a heap of buckets, and appending to a known bucket needs no
// search.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

#include "dist/sim/time.h"

namespace dist::sim {

// T has a member `T* next`, which the queue uses while the task is in it.
template <class T>
class ReadyQueue {
 public:
  bool empty() const { return current_.head == nullptr && heap_.empty(); }
  // The time of the task that pop() would return; `never` if the queue is empty.
  Time earliest() const { return current_.head ? current_.time : heap_.empty() ? never : heap_.top().time; }

  Time now() const { return std::max(current_.time, Time{0}); }  // the time of the last popped task

  // `time` must not be earlier than that of the last popped task.
  void push(T* task, Time time) {
    task->next = nullptr;
    if (time == current_.time) return append(current_, task);
    Recent& recent = recent_of(time);
    if (recent.time == time && recent.bucket != nullptr) return append(*recent.bucket, task);
    Bucket* bucket = acquire(time);
    append(*bucket, task);
    heap_.push({time, order_++, bucket});
    recent = {time, bucket};
  }

  // The queue must not be empty.
  T* pop() {
    if (current_.head == nullptr) advance();
    T* task = current_.head;
    current_.head = task->next;
    return task;
  }
  // The task after the next one, to be prefetched, or null.
  T* peek() const { return current_.head; }

 private:
  struct Bucket {
    Time time = -1;
    T *head = nullptr, *tail = nullptr;
  };
  struct Entry {
    Time time;
    std::uint64_t order;
    Bucket* bucket;
    bool operator<(const Entry& other) const {  // reversed: std::priority_queue returns the largest
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  struct Recent {
    Time time = -1;
    Bucket* bucket = nullptr;
  };

  Recent& recent_of(Time time) {
    return recent_[static_cast<std::uint64_t>(time) * 0x9E3779B97F4A7C15u >> 58];
  }
  static void append(Bucket& bucket, T* task) {
    (bucket.head ? bucket.tail->next : bucket.head) = task;
    bucket.tail = task;
  }
  Bucket* acquire(Time time) {
    if (spare_.empty()) {
      for (auto& bucket : *pages_.emplace_back(new std::array<Bucket, 64>)) spare_.push_back(&bucket);
    }
    Bucket* bucket = spare_.back();
    spare_.pop_back();
    *bucket = {time, nullptr, nullptr};
    return bucket;
  }
  void advance() {
    Bucket* bucket = heap_.top().bucket;
    heap_.pop();
    current_ = *bucket;
    if (Recent& recent = recent_of(bucket->time); recent.bucket == bucket) recent.bucket = nullptr;
    spare_.push_back(bucket);
  }

  Bucket current_;
  std::priority_queue<Entry> heap_;
  std::array<Recent, 64> recent_;
  std::vector<Bucket*> spare_;
  std::vector<std::unique_ptr<std::array<Bucket, 64>>> pages_;
  std::uint64_t order_ = 0;
};

}  // namespace dist::sim
