// Watchdog: when an operation of any rank runs into its timeout, every rank says what it is doing, and the
// error shows it. Each rank has one thread for this, asleep in the store until somebody asks.
#pragma once

#include <memory>
#include <string>

#include "dist/core/deadline.h"
#include "dist/group/flight_dump.h"
#include "dist/store/store.h"

namespace dist {

class Watchdog {
 public:
  Watchdog(std::shared_ptr<Store> store, std::shared_ptr<const FlightLog> log);
  ~Watchdog();  // ends promptly, also when the store does not answer any more

  // Asks every other rank: "rank 1 is in no operation; its last, all_reduce #6 (4 f32) at train.cpp:40,
  // completed (12.0 s); rank 2 is silent: dead or stuck". Blocks at most `patience`; empty when the
  // store gave no answer at all.
  std::string ask(Timeout patience) noexcept;

 private:
  struct Shared;
  static void loop(const std::shared_ptr<Shared>& shared);
  static void answer(Shared& shared, std::int64_t round);
  static std::int64_t round_to_read(const Shared& shared);
  static std::string collect(Shared& shared, Deadline deadline);

  std::shared_ptr<Shared> shared_;
};

}  // namespace dist
