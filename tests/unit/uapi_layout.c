// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Check the layout of the uapi structures.  test_uapi_layout.sh compiles this file for every kind
 * of program that may use them.  A wrong offset makes an array of negative size, which no compiler
 * accepts.  A line here may change only for a field that was never released.
 */
#include <stddef.h>

#include "uapi/memtap.h"

#define SIZE(type, n) \
	extern char size_##type[sizeof(struct type) == (n) ? 1 : -1]
#define AT(type, field, n) \
	extern char at_##type##_##field[offsetof(struct type, field) == (n) ? 1 : -1]
#define IS(name, n) \
	extern char is_##name[(name) == (n) ? 1 : -1]

#ifdef CONTROL		/* must not compile */
SIZE(memtap_rec, 9);
#endif

IS(MEMTAP_INFO, 0xb500);
IS(MEMTAP_EVENT, 0xb501);
IS(MEMTAP_HOOK, 0xb502);
IS(MEMTAP_CONFIGURE, 0xb503);
IS(MEMTAP_ATTACH, 0xb504);
IS(MEMTAP_START, 0xb505);
IS(MEMTAP_STOP, 0xb506);
IS(MEMTAP_STATS, 0xb507);
IS(MEMTAP_TABLE, 0xb508);
IS(MEMTAP_WANTED, 0xb509);
IS(MEMTAP_TRACE, 0xb50a);
IS(MEMTAP_HELD, 0xb50b);
IS(MEMTAP_EVENTS, 0xb50c);
IS(MEMTAP_OBJECTS, 0xb50e);
IS(MEMTAP_FIELD, 0xb50f);
IS(MEMTAP_SIMILAR, 0xb510);
IS(MEMTAP_SYMBOL, 0xb511);
IS(MEMTAP_AGES, 0xb514);

SIZE(memtap_ages_region, 136);
AT(memtap_ages_region, present, 8);
AT(memtap_ages_region, touched, 72);
SIZE(memtap_ages, 32);
AT(memtap_ages, pid, 8);
AT(memtap_ages, page, 16);
AT(memtap_ages, regions_ptr, 24);

IS(MEMTAP_MARK, 0xb513);
SIZE(memtap_mark, 64);
AT(memtap_mark, pid, 8);
AT(memtap_mark, marked, 12);
AT(memtap_mark, name, 24);
AT(memtap_mark, event, 56);
SIZE(memtap_rec_mark, 56);
AT(memtap_rec_mark, ns, 8);
AT(memtap_rec_mark, flags, 16);
AT(memtap_rec_mark, name, 24);
SIZE(memtap_similar_word, 64);
AT(memtap_similar_word, value, 8);
AT(memtap_similar_word, name, 16);
SIZE(memtap_similar, 608);
AT(memtap_similar, budget, 16);
AT(memtap_similar, survivors, 20);
AT(memtap_similar, nr_words, 32);
AT(memtap_similar, pages, 40);
AT(memtap_similar, alike, 88);
AT(memtap_similar, at, 96);
SIZE(memtap_symbol, 272);
AT(memtap_symbol, addr, 8);
AT(memtap_symbol, text, 16);

SIZE(memtap_info, 200);
AT(memtap_info, size, 0);
AT(memtap_info, flags, 4);
AT(memtap_info, features, 8);
AT(memtap_info, nr_events, 16);
AT(memtap_info, nr_hooks, 20);
AT(memtap_info, max_depth, 24);
AT(memtap_info, nr_cpus, 28);
AT(memtap_info, max_mem, 32);
AT(memtap_info, mem_stacks, 40);
AT(memtap_info, mem_counters, 48);
AT(memtap_info, mem_tasks, 56);
AT(memtap_info, nr_sessions, 64);
AT(memtap_info, reserved, 68);
AT(memtap_info, version, 72);
AT(memtap_info, release, 104);
AT(memtap_info, mem_unwind, 168);
AT(memtap_info, mem_live, 176);
AT(memtap_info, mem_objects, 184);
AT(memtap_info, mem_touched, 192);

SIZE(memtap_event_info, 144);
AT(memtap_event_info, size, 0);
AT(memtap_event_info, id, 4);
AT(memtap_event_info, unit, 8);
AT(memtap_event_info, nr_hooks, 12);
AT(memtap_event_info, group, 16);
AT(memtap_event_info, name, 32);
AT(memtap_event_info, summary, 64);

SIZE(memtap_hook_state, 296);
AT(memtap_hook_state, size, 0);
AT(memtap_hook_state, index, 4);
AT(memtap_hook_state, state, 8);
AT(memtap_hook_state, error, 12);
AT(memtap_hook_state, way, 16);
AT(memtap_hook_state, users, 20);
AT(memtap_hook_state, hits, 24);
AT(memtap_hook_state, missed, 32);
AT(memtap_hook_state, event, 40);
AT(memtap_hook_state, target, 168);

SIZE(memtap_filter_item, 32);
AT(memtap_filter_item, kind, 0);
AT(memtap_filter_item, reserved, 4);
AT(memtap_filter_item, value, 8);
AT(memtap_filter_item, comm, 16);

SIZE(memtap_config, 120);
AT(memtap_config, size, 0);
AT(memtap_config, flags, 4);
AT(memtap_config, events, 8);
AT(memtap_config, depth, 16);
AT(memtap_config, addr_shift, 20);
AT(memtap_config, mem_stacks, 24);
AT(memtap_config, mem_counters, 32);
AT(memtap_config, mem_tasks, 40);
AT(memtap_config, min_size, 48);
AT(memtap_config, max_size, 56);
AT(memtap_config, filter_ptr, 64);
AT(memtap_config, filter_nr, 72);
AT(memtap_config, reserved, 76);
AT(memtap_config, mem_total, 80);
AT(memtap_config, mem_unwind, 88);
AT(memtap_config, mem_live, 96);
AT(memtap_config, sample_bytes, 104);
AT(memtap_config, sample_rate, 112);
AT(memtap_config, reserved2, 116);

SIZE(memtap_attach, 248);
AT(memtap_attach, size, 0);
AT(memtap_attach, kind, 4);
AT(memtap_attach, flags, 8);
AT(memtap_attach, fd, 12);
AT(memtap_attach, offset, 16);
AT(memtap_attach, ref_ctr, 24);
AT(memtap_attach, config, 32);
AT(memtap_attach, event, 40);
AT(memtap_attach, way, 44);
AT(memtap_attach, name, 48);
AT(memtap_attach, op, 176);
AT(memtap_attach, family, 180);
AT(memtap_attach, size_arg, 184);
AT(memtap_attach, size2_arg, 185);
AT(memtap_attach, ptr_arg, 186);
AT(memtap_attach, result_arg, 187);
AT(memtap_attach, hold_ms, 188);
AT(memtap_attach, moved, 192);
AT(memtap_attach, nr_steps, 196);
AT(memtap_attach, steps_ptr, 200);
AT(memtap_attach, texts_ptr, 208);
AT(memtap_attach, texts_len, 216);
AT(memtap_attach, nr_entry, 220);
AT(memtap_attach, nr_shown, 224);
AT(memtap_attach, value_slot, 228);
AT(memtap_attach, by_slot, 230);
AT(memtap_attach, value_unit, 232);
AT(memtap_attach, by_mask, 236);
AT(memtap_attach, text_max, 238);
AT(memtap_attach, end_config, 240);

SIZE(memtap_step, 16);
AT(memtap_step, op, 0);
AT(memtap_step, type, 1);
AT(memtap_step, index, 2);
AT(memtap_step, reserved, 4);
AT(memtap_step, number, 8);

SIZE(memtap_one, 72);
AT(memtap_one, len, 0);
AT(memtap_one, event, 4);
AT(memtap_one, known, 6);
AT(memtap_one, ns, 8);
AT(memtap_one, pid, 16);
AT(memtap_one, tid, 20);
AT(memtap_one, kstack, 24);
AT(memtap_one, ustack, 28);
AT(memtap_one, cpu, 32);
AT(memtap_one, flags, 36);
AT(memtap_one, task, 40);
AT(memtap_one, reserved, 44);
AT(memtap_one, value, 48);
AT(memtap_one, comm, 56);

SIZE(memtap_events, 32);
AT(memtap_events, size, 0);
AT(memtap_events, room, 4);
AT(memtap_events, ones_ptr, 8);
AT(memtap_events, used, 16);
AT(memtap_events, more, 20);
AT(memtap_events, safe_ns, 24);

SIZE(memtap_field, 64);
AT(memtap_field, size, 0);
AT(memtap_field, event, 4);
AT(memtap_field, index, 8);
AT(memtap_field, offset, 12);
AT(memtap_field, len, 16);
AT(memtap_field, type, 20);
AT(memtap_field, flags, 24);
AT(memtap_field, reserved, 28);
AT(memtap_field, name, 32);

SIZE(memtap_run, 8);
AT(memtap_run, size, 0);
AT(memtap_run, flags, 4);

SIZE(memtap_stats, 296);
AT(memtap_stats, size, 0);
AT(memtap_stats, event, 4);
AT(memtap_stats, seen, 8);
AT(memtap_stats, counted, 16);
AT(memtap_stats, filtered, 24);
AT(memtap_stats, lost, 32);
AT(memtap_stats, part, 160);
AT(memtap_stats, own, 288);

SIZE(memtap_rule, 24);
AT(memtap_rule, kind, 0);
AT(memtap_rule, reg, 1);
AT(memtap_rule, flags, 2);
AT(memtap_rule, reserved, 3);
AT(memtap_rule, cfa, 4);
AT(memtap_rule, add, 8);
AT(memtap_rule, fp, 12);
AT(memtap_rule, bx, 16);
AT(memtap_rule, ra, 20);

SIZE(memtap_table, 56);
AT(memtap_table, size, 0);
AT(memtap_table, flags, 4);
AT(memtap_table, fd, 8);
AT(memtap_table, nr_rows, 12);
AT(memtap_table, nr_rules, 16);
AT(memtap_table, file, 20);
AT(memtap_table, rows_ptr, 24);
AT(memtap_table, kinds_ptr, 32);
AT(memtap_table, rules_ptr, 40);
AT(memtap_table, bytes, 48);

SIZE(memtap_wanted, 56);
AT(memtap_wanted, size, 0);
AT(memtap_wanted, flags, 4);
AT(memtap_wanted, file, 8);
AT(memtap_wanted, pid, 12);
AT(memtap_wanted, start, 16);
AT(memtap_wanted, end, 24);
AT(memtap_wanted, cut, 32);
AT(memtap_wanted, path_ptr, 40);
AT(memtap_wanted, path_len, 48);
AT(memtap_wanted, reserved, 52);

SIZE(memtap_rec, 8);
AT(memtap_rec, type, 0);
AT(memtap_rec, len, 4);

SIZE(memtap_rec_header, 248);
AT(memtap_rec_header, rec, 0);
AT(memtap_rec_header, magic, 8);
AT(memtap_rec_header, flags, 16);
AT(memtap_rec_header, depth, 20);
AT(memtap_rec_header, page_size, 24);
AT(memtap_rec_header, nr_cpus, 28);
AT(memtap_rec_header, machine, 32);
AT(memtap_rec_header, running, 36);
AT(memtap_rec_header, start_ns, 40);
AT(memtap_rec_header, now_ns, 48);
AT(memtap_rec_header, real_ns, 56);
AT(memtap_rec_header, addr_shift, 64);
AT(memtap_rec_header, reserved, 68);
AT(memtap_rec_header, release, 72);
AT(memtap_rec_header, version, 136);
AT(memtap_rec_header, host, 168);
AT(memtap_rec_header, sample_bytes, 232);
AT(memtap_rec_header, sample_rate, 240);
AT(memtap_rec_header, reserved2, 244);

SIZE(memtap_rec_event, 456);
AT(memtap_rec_event, rec, 0);
AT(memtap_rec_event, id, 8);
AT(memtap_rec_event, unit, 12);
AT(memtap_rec_event, way, 16);
AT(memtap_rec_event, flags, 20);
AT(memtap_rec_event, seen, 24);
AT(memtap_rec_event, counted, 32);
AT(memtap_rec_event, filtered, 40);
AT(memtap_rec_event, lost, 48);
AT(memtap_rec_event, part, 176);
AT(memtap_rec_event, group, 304);
AT(memtap_rec_event, name, 320);
AT(memtap_rec_event, own, 448);

SIZE(memtap_rec_hook, 168);
AT(memtap_rec_hook, rec, 0);
AT(memtap_rec_hook, event, 8);
AT(memtap_rec_hook, state, 12);
AT(memtap_rec_hook, error, 16);
AT(memtap_rec_hook, way, 20);
AT(memtap_rec_hook, hits, 24);
AT(memtap_rec_hook, missed, 32);
AT(memtap_rec_hook, target, 40);

SIZE(memtap_rec_counter, 72);
AT(memtap_rec_counter, rec, 0);
AT(memtap_rec_counter, event, 8);
AT(memtap_rec_counter, flags, 12);
AT(memtap_rec_counter, task, 16);
AT(memtap_rec_counter, kstack, 20);
AT(memtap_rec_counter, ustack, 24);
AT(memtap_rec_counter, cpu, 28);
AT(memtap_rec_counter, addr, 32);
AT(memtap_rec_counter, count, 40);
AT(memtap_rec_counter, sum, 48);
AT(memtap_rec_counter, max, 56);
AT(memtap_rec_counter, nr_hist, 64);
AT(memtap_rec_counter, number, 68);
AT(memtap_rec_counter, hist, 72);

SIZE(memtap_rec_stack, 24);
AT(memtap_rec_stack, rec, 0);
AT(memtap_rec_stack, id, 8);
AT(memtap_rec_stack, flags, 12);
AT(memtap_rec_stack, nr, 16);
AT(memtap_rec_stack, era, 20);
AT(memtap_rec_stack, ip, 24);

SIZE(memtap_rec_task, 88);
AT(memtap_rec_task, rec, 0);
AT(memtap_rec_task, id, 8);
AT(memtap_rec_task, flags, 12);
AT(memtap_rec_task, space, 16);
AT(memtap_rec_task, pid, 20);
AT(memtap_rec_task, tid, 24);
AT(memtap_rec_task, ns_pid, 28);
AT(memtap_rec_task, ns_tid, 32);
AT(memtap_rec_task, ppid, 36);
AT(memtap_rec_task, uid, 40);
AT(memtap_rec_task, exec, 44);
AT(memtap_rec_task, start_ns, 48);
AT(memtap_rec_task, cgroup1, 56);
AT(memtap_rec_task, cgroup2, 64);
AT(memtap_rec_task, comm, 72);

SIZE(memtap_rec_map, 48);
AT(memtap_rec_map, rec, 0);
AT(memtap_rec_map, space, 8);
AT(memtap_rec_map, file, 12);
AT(memtap_rec_map, flags, 16);
AT(memtap_rec_map, era, 20);
AT(memtap_rec_map, start, 24);
AT(memtap_rec_map, end, 32);
AT(memtap_rec_map, offset, 40);

SIZE(memtap_rec_file, 64);
AT(memtap_rec_file, rec, 0);
AT(memtap_rec_file, id, 8);
AT(memtap_rec_file, build_id_len, 12);
AT(memtap_rec_file, dev_major, 16);
AT(memtap_rec_file, dev_minor, 20);
AT(memtap_rec_file, inode, 24);
AT(memtap_rec_file, inode_gen, 32);
AT(memtap_rec_file, build_id, 40);
AT(memtap_rec_file, path, 64);

SIZE(memtap_rec_memory, 264);
AT(memtap_rec_memory, rec, 0);
AT(memtap_rec_memory, total, 8);
AT(memtap_rec_memory, stacks_size, 16);
AT(memtap_rec_memory, stacks_used, 24);
AT(memtap_rec_memory, counters_size, 32);
AT(memtap_rec_memory, counters_used, 40);
AT(memtap_rec_memory, tasks_size, 48);
AT(memtap_rec_memory, tasks_used, 56);
AT(memtap_rec_memory, maps_size, 64);
AT(memtap_rec_memory, maps_used, 72);
AT(memtap_rec_memory, maps_lost, 80);
AT(memtap_rec_memory, spaces_missed, 88);
AT(memtap_rec_memory, children_lost, 96);
AT(memtap_rec_memory, cpus_late, 104);
AT(memtap_rec_memory, unwind_size, 112);
AT(memtap_rec_memory, unwind_used, 120);
AT(memtap_rec_memory, unwind_lost, 128);
AT(memtap_rec_memory, tables, 136);
AT(memtap_rec_memory, tables_wanted, 144);
AT(memtap_rec_memory, live_size, 152);
AT(memtap_rec_memory, live_used, 160);
AT(memtap_rec_memory, live_maps_size, 168);
AT(memtap_rec_memory, live_maps_used, 176);
AT(memtap_rec_memory, threads_size, 184);
AT(memtap_rec_memory, threads_used, 192);
AT(memtap_rec_memory, spaces_lost, 200);
AT(memtap_rec_memory, mismatches_lost, 208);
AT(memtap_rec_memory, trace_lost, 216);
AT(memtap_rec_memory, live_lost_bytes, 224);
AT(memtap_rec_memory, replaced, 232);
AT(memtap_rec_memory, replaced_bytes, 240);
AT(memtap_rec_memory, caches_lost, 248);
AT(memtap_rec_memory, gone_lost, 256);

SIZE(memtap_rec_end, 32);
AT(memtap_rec_end, rec, 0);
AT(memtap_rec_end, records, 8);
AT(memtap_rec_end, count, 16);
AT(memtap_rec_end, checksum, 24);

SIZE(memtap_rec_ksym, 24);
AT(memtap_rec_ksym, rec, 0);
AT(memtap_rec_ksym, addr, 8);
AT(memtap_rec_ksym, offset, 16);
AT(memtap_rec_ksym, name, 24);

SIZE(memtap_rec_note, 8);
AT(memtap_rec_note, rec, 0);
AT(memtap_rec_note, text, 8);

SIZE(memtap_call, 72);
AT(memtap_call, ns, 0);
AT(memtap_call, addr, 8);
AT(memtap_call, size, 16);
AT(memtap_call, old, 24);
AT(memtap_call, pid, 32);
AT(memtap_call, tid, 36);
AT(memtap_call, event, 40);
AT(memtap_call, flags, 44);
AT(memtap_call, ustack, 48);
AT(memtap_call, cpu, 52);
AT(memtap_call, comm, 56);

SIZE(memtap_objects, 80);
AT(memtap_objects, size, 0);
AT(memtap_objects, flags, 4);
AT(memtap_objects, start, 8);
AT(memtap_objects, end, 16);
AT(memtap_objects, cache, 24);
AT(memtap_objects, orders, 72);
AT(memtap_objects, reserved, 76);

SIZE(memtap_rec_cache, 184);
AT(memtap_rec_cache, reclaimable, 152);
AT(memtap_rec_cache, movable, 160);
AT(memtap_rec_cache, waste, 168);
AT(memtap_rec_cache, remote, 176);
AT(memtap_rec_cache, rec, 0);
AT(memtap_rec_cache, id, 8);
AT(memtap_rec_cache, kind, 12);
AT(memtap_rec_cache, object_size, 16);
AT(memtap_rec_cache, allocs, 24);
AT(memtap_rec_cache, bytes, 32);
AT(memtap_rec_cache, frees, 40);
AT(memtap_rec_cache, freed_bytes, 48);
AT(memtap_rec_cache, unknown, 56);
AT(memtap_rec_cache, unknown_bytes, 64);
AT(memtap_rec_cache, lost, 72);
AT(memtap_rec_cache, lost_bytes, 80);
AT(memtap_rec_cache, replaced, 88);
AT(memtap_rec_cache, replaced_bytes, 96);
AT(memtap_rec_cache, name, 104);

SIZE(memtap_rec_gone, 24);
AT(memtap_rec_gone, rec, 0);
AT(memtap_rec_gone, addr, 8);
AT(memtap_rec_gone, offset, 16);
AT(memtap_rec_gone, name, 24);

SIZE(memtap_trace, 24);
AT(memtap_trace, size, 0);
AT(memtap_trace, nr, 4);
AT(memtap_trace, calls_ptr, 8);
AT(memtap_trace, lost, 16);

SIZE(memtap_held, 176);
AT(memtap_held, size, 0);
AT(memtap_held, release, 4);
AT(memtap_held, tid, 8);
AT(memtap_held, pid, 12);
AT(memtap_held, event, 16);
AT(memtap_held, id, 20);
AT(memtap_held, release_id, 24);
AT(memtap_held, space, 28);
AT(memtap_held, look, 32);
AT(memtap_held, nr_regs, 36);
AT(memtap_held, regs, 40);

SIZE(memtap_block, 40);
AT(memtap_block, addr, 0);
AT(memtap_block, size, 8);
AT(memtap_block, birth_ns, 16);
AT(memtap_block, ustack, 24);
AT(memtap_block, task, 28);
AT(memtap_block, space, 32);
AT(memtap_block, event, 36);
AT(memtap_block, flags, 38);

SIZE(memtap_rec_blocks, 16);
AT(memtap_rec_blocks, rec, 0);
AT(memtap_rec_blocks, nr, 8);
AT(memtap_rec_blocks, reserved, 12);
AT(memtap_rec_blocks, at, 16);

SIZE(memtap_rec_pending, 32);
AT(memtap_rec_pending, rec, 0);
AT(memtap_rec_pending, event, 8);
AT(memtap_rec_pending, task, 12);
AT(memtap_rec_pending, kstack, 16);
AT(memtap_rec_pending, ustack, 20);
AT(memtap_rec_pending, since_ns, 24);

SIZE(memtap_rec_heap, 104);
AT(memtap_rec_heap, rec, 0);
AT(memtap_rec_heap, event, 8);
AT(memtap_rec_heap, op, 12);
AT(memtap_rec_heap, family, 16);
AT(memtap_rec_heap, probes, 20);
AT(memtap_rec_heap, allocs, 24);
AT(memtap_rec_heap, bytes, 32);
AT(memtap_rec_heap, kept, 40);
AT(memtap_rec_heap, kept_bytes, 48);
AT(memtap_rec_heap, failed, 56);
AT(memtap_rec_heap, frees, 64);
AT(memtap_rec_heap, freed_bytes, 72);
AT(memtap_rec_heap, unknown, 80);
AT(memtap_rec_heap, null, 88);
AT(memtap_rec_heap, inner, 96);

SIZE(memtap_rec_space, 200);
AT(memtap_rec_space, rec, 0);
AT(memtap_rec_space, id, 8);
AT(memtap_rec_space, flags, 12);
AT(memtap_rec_space, task, 16);
AT(memtap_rec_space, pid, 20);
AT(memtap_rec_space, begin_ns, 24);
AT(memtap_rec_space, end_ns, 32);
AT(memtap_rec_space, heap_then, 40);
AT(memtap_rec_space, heap_now, 48);
AT(memtap_rec_space, vm_then, 56);
AT(memtap_rec_space, vm_now, 64);
AT(memtap_rec_space, rss_then, 72);
AT(memtap_rec_space, rss_now, 80);
AT(memtap_rec_space, blocks, 88);
AT(memtap_rec_space, bytes, 96);
AT(memtap_rec_space, maps, 104);
AT(memtap_rec_space, maps_bytes, 112);
AT(memtap_rec_space, inner_maps, 120);
AT(memtap_rec_space, inner_bytes, 128);
AT(memtap_rec_space, purged, 136);
AT(memtap_rec_space, purged_bytes, 144);
AT(memtap_rec_space, unknown, 152);
AT(memtap_rec_space, replaced, 160);
AT(memtap_rec_space, maps_reserved, 168);
AT(memtap_rec_space, inner_reserved, 176);
AT(memtap_rec_space, earlier_came, 184);
AT(memtap_rec_space, earlier_gone, 192);

SIZE(memtap_rec_mismatch, 72);
AT(memtap_rec_mismatch, rec, 0);
AT(memtap_rec_mismatch, kind, 8);
AT(memtap_rec_mismatch, event, 12);
AT(memtap_rec_mismatch, task, 16);
AT(memtap_rec_mismatch, alloc_event, 20);
AT(memtap_rec_mismatch, stack, 24);
AT(memtap_rec_mismatch, alloc_stack, 28);
AT(memtap_rec_mismatch, free_stack, 32);
AT(memtap_rec_mismatch, reserved, 36);
AT(memtap_rec_mismatch, addr, 40);
AT(memtap_rec_mismatch, size, 48);
AT(memtap_rec_mismatch, count, 56);
AT(memtap_rec_mismatch, ns, 64);

SIZE(memtap_rec_usym, 48);
AT(memtap_rec_usym, rec, 0);
AT(memtap_rec_usym, space, 8);
AT(memtap_rec_usym, flags, 12);
AT(memtap_rec_usym, ip, 16);
AT(memtap_rec_usym, addr, 24);
AT(memtap_rec_usym, offset, 32);
AT(memtap_rec_usym, line, 40);
AT(memtap_rec_usym, era, 44);
AT(memtap_rec_usym, text, 48);

SIZE(memtap_rec_reach, 24);
AT(memtap_rec_reach, rec, 0);
AT(memtap_rec_reach, space, 8);
AT(memtap_rec_reach, kind, 12);
AT(memtap_rec_reach, nr, 16);
AT(memtap_rec_reach, reserved, 20);
AT(memtap_rec_reach, addr, 24);

SIZE(memtap_oom_task, 104);
AT(memtap_oom_task, pid, 0);
AT(memtap_oom_task, tid, 4);
AT(memtap_oom_task, ns_pid, 8);
AT(memtap_oom_task, score_adj, 12);
AT(memtap_oom_task, uid, 16);
AT(memtap_oom_task, flags, 20);
AT(memtap_oom_task, start_ns, 24);
AT(memtap_oom_task, virt, 32);
AT(memtap_oom_task, anon, 40);
AT(memtap_oom_task, file, 48);
AT(memtap_oom_task, shmem, 56);
AT(memtap_oom_task, swap, 64);
AT(memtap_oom_task, tables, 72);
AT(memtap_oom_task, cgroup, 80);
AT(memtap_oom_task, comm, 88);

SIZE(memtap_oom_zone, 192);
AT(memtap_oom_zone, node, 0);
AT(memtap_oom_zone, nr_orders, 4);
AT(memtap_oom_zone, name, 8);
AT(memtap_oom_zone, managed, 24);
AT(memtap_oom_zone, free, 32);
AT(memtap_oom_zone, min, 40);
AT(memtap_oom_zone, low, 48);
AT(memtap_oom_zone, high, 56);
AT(memtap_oom_zone, blocks, 64);

SIZE(memtap_oom_frame, 24);
AT(memtap_oom_frame, ip, 0);
AT(memtap_oom_frame, offset, 8);
AT(memtap_oom_frame, file, 16);
AT(memtap_oom_frame, reserved, 20);

SIZE(memtap_oom_file, 144);
AT(memtap_oom_file, inode, 0);
AT(memtap_oom_file, dev_major, 8);
AT(memtap_oom_file, dev_minor, 12);
AT(memtap_oom_file, path, 16);

SIZE(memtap_oom_record, 12320);
AT(memtap_oom_record, size, 0);
AT(memtap_oom_record, flags, 4);
AT(memtap_oom_record, nr, 8);
AT(memtap_oom_record, ns, 16);
AT(memtap_oom_record, real_ns, 24);
AT(memtap_oom_record, gfp, 32);
AT(memtap_oom_record, order, 40);
AT(memtap_oom_record, constraint, 44);
AT(memtap_oom_record, nodes, 48);
AT(memtap_oom_record, points, 56);
AT(memtap_oom_record, allowed, 64);
AT(memtap_oom_record, limit, 72);
AT(memtap_oom_record, usage, 80);
AT(memtap_oom_record, limit_cgroup, 88);
AT(memtap_oom_record, total, 96);
AT(memtap_oom_record, load, 104);
AT(memtap_oom_record, page_size, 116);
AT(memtap_oom_record, nr_cpus, 120);
AT(memtap_oom_record, nr_top, 124);
AT(memtap_oom_record, nr_members, 128);
AT(memtap_oom_record, nr_zones, 132);
AT(memtap_oom_record, sharing, 136);
AT(memtap_oom_record, processes, 140);
AT(memtap_oom_record, unread, 144);
AT(memtap_oom_record, unlooked, 148);
AT(memtap_oom_record, held, 152);
AT(memtap_oom_record, same_held, 160);
AT(memtap_oom_record, same, 168);
AT(memtap_oom_record, nr_counters, 172);
AT(memtap_oom_record, nr_reclaim, 176);
AT(memtap_oom_record, reclaim_ms, 180);
AT(memtap_oom_record, nr_kstack, 184);
AT(memtap_oom_record, kflags, 188);
AT(memtap_oom_record, nr_ustack, 192);
AT(memtap_oom_record, uflags, 196);
AT(memtap_oom_record, nr_files, 200);
AT(memtap_oom_record, reserved, 204);
AT(memtap_oom_record, message, 208);
AT(memtap_oom_record, gfp_text, 272);
AT(memtap_oom_record, limit_path, 368);
AT(memtap_oom_record, trigger_path, 496);
AT(memtap_oom_record, victim_path, 624);
AT(memtap_oom_record, trigger, 752);
AT(memtap_oom_record, victim, 856);
AT(memtap_oom_record, top, 960);
AT(memtap_oom_record, members, 2000);
AT(memtap_oom_record, zones, 3664);
AT(memtap_oom_record, counters, 6736);
AT(memtap_oom_record, reclaim, 6928);
AT(memtap_oom_record, kstack, 7024);
AT(memtap_oom_record, ustack, 7536);
AT(memtap_oom_record, files, 9072);
AT(memtap_oom_record, nodes_total, 10800);
AT(memtap_oom_record, node_counters, 10808);
AT(memtap_oom_record, locked, 11000);
AT(memtap_oom_record, charged, 11080);
AT(memtap_oom_record, killed_ns, 11272);
AT(memtap_oom_record, later_ns, 11280);
AT(memtap_oom_record, later_errno, 11288);
AT(memtap_oom_record, nr_charged, 11292);
AT(memtap_oom_record, limit_long, 11296);

SIZE(memtap_oom, 48);
AT(memtap_oom, size, 0);
AT(memtap_oom, flags, 4);
AT(memtap_oom, nr, 8);
AT(memtap_oom, record_ptr, 16);
AT(memtap_oom, record_len, 24);
AT(memtap_oom, reserved, 28);
AT(memtap_oom, lost, 32);
AT(memtap_oom, waiting, 40);
AT(memtap_oom, reserved2, 44);

SIZE(memtap_place, 80);
AT(memtap_place, page, 0);
AT(memtap_place, space, 8);
AT(memtap_place, huge, 12);
AT(memtap_place, who, 16);

SIZE(memtap_rec_touched, 16);
AT(memtap_rec_touched, rec, 0);
AT(memtap_rec_touched, nr, 8);
AT(memtap_rec_touched, reserved, 12);
AT(memtap_rec_touched, at, 16);

SIZE(memtap_rec_touched_sum, 64);
AT(memtap_rec_touched_sum, rec, 0);
AT(memtap_rec_touched_sum, seed, 8);
AT(memtap_rec_touched_sum, share, 12);
AT(memtap_rec_touched_sum, size, 16);
AT(memtap_rec_touched_sum, used, 24);
AT(memtap_rec_touched_sum, refused, 32);
AT(memtap_rec_touched_sum, skipped, 40);
AT(memtap_rec_touched_sum, moved, 48);
AT(memtap_rec_touched_sum, unmoved, 56);
