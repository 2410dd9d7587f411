import { showDifference } from './difference.js';
import { showReport } from './report.js';
import { $ } from './dom.js';

// The data stands behind the script.
document.addEventListener('DOMContentLoaded', () => {
	const data = JSON.parse($('data').textContent);
	(data.diff ? showDifference : showReport)(data);
	document.documentElement.dataset.ready = 'yes';
});
