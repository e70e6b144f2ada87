# SPDX-License-Identifier: GPL-2.0-or-later
my %seen;
$seen{($_ * 7919) % 1007} .= "value $_ " for 1 .. 200;
my $text = join ',', map { "$_=$seen{$_}" } sort { $seen{$a} cmp $seen{$b} } keys %seen;
my $n = () = $text =~ /(\d+)=/g;
eval { die { code => $n } };
my $ring = {}; $ring->{self} = $ring;
print "$n $@->{code}\n";
